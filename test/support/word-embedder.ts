import { createHash } from 'node:crypto';
import type { Embedder } from '../../src/ports/embedder.ts';

export interface WordEmbedder extends Embedder {
  /** All embedded documents, in order. */
  readonly embedded: string[];
}

const DIMENSIONS = 512;

/** Creates an embedder for tests: texts are similar if they share words, and tokens are words. */
export function createWordEmbedder(options: { id?: string; maxTokens?: number } = {}): WordEmbedder {
  const embedded: string[] = [];
  return {
    id: options.id ?? 'test:words',
    dimensions: DIMENSIONS,
    maxTokens: options.maxTokens ?? 64,
    batchSize: 8,
    scoreThreshold: 0.2,
    embedded,
    countTokens: (text) => wordsOf(text).length,
    async embedDocuments(texts, signal) {
      signal?.throwIfAborted();
      embedded.push(...texts);
      return texts.map(vectorOf);
    },
    embedQuery: async (text) => vectorOf(text),
    close: async () => {},
  };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\S+/g) ?? [];
}

function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const word of wordsOf(text)) {
    const at = createHash('sha256').update(word).digest().readUInt16BE() % DIMENSIONS;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
