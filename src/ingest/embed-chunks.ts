import type { ChunkStore, ChunkVectors, StoredChunk, UnembeddedChunk } from '../ports/chunk-store.ts';
import { type Embedder, WORD_DIMENSIONS } from '../ports/embedder.ts';
import { findContentWords } from '../text/content-words.ts';
import { toEmbeddedText } from './chunk-document.ts';

/** Chunks per write of vectors: enough to be fast, few enough to lose little when interrupted. */
const WINDOW_CHUNKS = 256;

export interface EmbeddingDependencies {
  /** Called only when there is something to embed. */
  embedder: () => Promise<Embedder>;
  /** Whether the embedder has word vectors. */
  hasWords: boolean;
}

export interface EmbeddingProgress {
  chunks: number;
  totalChunks: number;
  /** The share of tokens embedded, 0 to 1: long chunks take longer. */
  share: number;
}

/** Embeds all chunks of a collection that have no vectors, of this or an earlier run. An interrupted run keeps its work. */
export async function embedChunks(
  store: Pick<ChunkStore, 'unembedded' | 'chunks' | 'addVectors'>,
  { embedder, hasWords }: EmbeddingDependencies,
  signal: AbortSignal | undefined,
  /** Called before the first batch and after each. */
  onProgress: (progress: EmbeddingProgress) => void,
): Promise<void> {
  const found = await store.unembedded({ words: hasWords });
  // Equal content is embedded once.
  const waiting = [...new Map(found.map((chunk) => [chunk.contentHash, chunk])).values()];
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
    const vectors = new Map<string, ChunkVectors>();
    try {
      // Chunks of similar length are embedded together.
      const byLength = window.toSorted((a, b) => b.tokenCount - a.tokenCount);
      for (let first = 0; first < byLength.length; first += loaded.batchSize) {
        const batch = byLength.slice(first, first + loaded.batchSize);
        signal?.throwIfAborted();
        // Some may have been removed meanwhile.
        const existing = await store.chunks(batch.map(({ chunkId }) => chunkId));
        const embedded = await embedBatch(existing, loaded, signal);
        existing.forEach(({ contentHash }, index) => {
          vectors.set(contentHash, embedded[index] as ChunkVectors);
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

async function embedBatch(
  chunks: readonly StoredChunk[],
  embedder: Embedder,
  signal: AbortSignal | undefined,
): Promise<ChunkVectors[]> {
  const texts = chunks.map((chunk) => toEmbeddedText(chunk, embedder));
  if (embedder.embedWords === undefined) {
    const vectors = await embedder.embedDocuments(texts, signal);
    return vectors.map((vector) => ({ vector, words: null }));
  }
  const embedded = await embedder.embedWords(texts, signal);
  return embedded.map(({ vector, words }, index) => {
    // The title and headings are in front of the text.
    const { length } = chunks[index]?.text ?? '';
    const path = (texts[index] ?? '').slice(0, -length || undefined);
    const start = findContentWords(path).length * WORD_DIMENSIONS;
    return { vector, words: { text: words.slice(start), path: words.slice(0, start) } };
  });
}

function sumTokens(chunks: readonly UnembeddedChunk[]): number {
  return chunks.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
}
