import type { ChunkStore, UnembeddedChunk } from '../ports/chunk-store.ts';
import type { Embedder } from '../ports/embedder.ts';
import { embeddedText } from './chunk-document.ts';

/** How many chunks are embedded before their vectors are written: enough to be fast, few enough to lose little. */
const WINDOW_CHUNKS = 256;

export interface EmbeddingProgress {
  chunks: number;
  totalChunks: number;
  /** How much of the work is done, from 0 to 1: by tokens, since long chunks take longer. */
  share: number;
}

interface EmbedOptions {
  signal?: AbortSignal | undefined;
  /** Called before the first batch and after each. */
  onProgress: (progress: EmbeddingProgress) => void;
}

/**
 * Gives every chunk of a collection a vector that has none yet, whichever run has left it so. What was embedded when it
 * is stopped or fails is kept.
 */
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
  const totalTokens = tokensOf(waiting);
  let chunks = 0;
  let tokens = 0;
  const report = () => onProgress({ chunks, totalChunks: waiting.length, share: tokens / totalTokens });

  report();
  const size = Math.max(WINDOW_CHUNKS, loaded.batchSize);
  for (let start = 0; start < waiting.length; start += size) {
    const window = waiting.slice(start, start + size);
    const vectors = new Map<string, Float32Array>();
    try {
      // Those side by side take alike.
      for (const batch of inBatches(
        window.toSorted((a, b) => b.tokenCount - a.tokenCount),
        loaded.batchSize,
      )) {
        signal?.throwIfAborted();
        // Some may have gone meanwhile.
        const there = await store.chunks(batch.map(({ chunkId }) => chunkId));
        const embedded = await loaded.embedDocuments(
          there.map((chunk) => embeddedText(chunk, loaded)),
          signal,
        );
        there.forEach(({ contentHash }, index) => {
          vectors.set(contentHash, embedded[index] as Float32Array);
        });
        chunks += batch.length;
        tokens += tokensOf(batch);
        report();
      }
    } finally {
      await store.addVectors(vectors);
    }
  }
}

function tokensOf(chunks: readonly UnembeddedChunk[]): number {
  return chunks.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
}

function* inBatches<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
