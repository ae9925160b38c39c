import type { ChunkStore, UnembeddedChunk } from '../ports/chunk-store.ts';
import type { Embedder } from '../ports/embedder.ts';
import { toEmbeddedText } from './chunk-document.ts';

/** Chunks per write: enough to be fast, few enough to lose little when interrupted. */
const WINDOW_CHUNKS = 256;

export interface EmbeddingProgress {
  chunks: number;
  totalChunks: number;
  /** The share of tokens embedded, 0 to 1: long chunks take longer. */
  share: number;
}

interface EmbedOptions {
  signal?: AbortSignal | undefined;
  /** Called before the first batch and after each. */
  onProgress: (progress: EmbeddingProgress) => void;
}

/** Embeds all chunks of a collection that have no vector, of this or an earlier run. An interrupted run keeps its work. */
export async function embedChunks(
  store: Pick<ChunkStore, 'unembedded' | 'chunks' | 'addVectors'>,
  embedder: () => Promise<Embedder>,
  { signal, onProgress }: EmbedOptions,
): Promise<void> {
  // Equal content is embedded once.
  const waiting = [
    ...new Map((await store.unembedded()).map((chunk) => [chunk.contentHash, chunk])).values(),
  ];
  if (waiting.length === 0) return;
  signal?.throwIfAborted();
  const loaded = await embedder();
  const totalTokens = sumTokens(waiting);
  let chunks = 0;
  let tokens = 0;
  const report = () => onProgress({ chunks, totalChunks: waiting.length, share: tokens / totalTokens });

  report();
  const size = Math.max(WINDOW_CHUNKS, loaded.batchSize);
  for (let start = 0; start < waiting.length; start += size) {
    const window = waiting.slice(start, start + size);
    const vectors = new Map<string, Float32Array>();
    try {
      // Chunks of similar length are embedded together.
      const byLength = window.toSorted((a, b) => b.tokenCount - a.tokenCount);
      for (let first = 0; first < byLength.length; first += loaded.batchSize) {
        const batch = byLength.slice(first, first + loaded.batchSize);
        signal?.throwIfAborted();
        // Some may have been removed meanwhile.
        const existing = await store.chunks(batch.map(({ chunkId }) => chunkId));
        const texts = existing.map((chunk) => toEmbeddedText(chunk, loaded));
        const embedded = await loaded.embedDocuments(texts, signal);
        existing.forEach(({ contentHash }, index) => {
          vectors.set(contentHash, embedded[index] as Float32Array);
        });
        chunks += batch.length;
        tokens += sumTokens(batch);
        report();
      }
    } finally {
      await store.addVectors(vectors);
    }
  }
}

function sumTokens(chunks: readonly UnembeddedChunk[]): number {
  return chunks.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
}
