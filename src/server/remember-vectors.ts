import type { Embedder } from '../ports/embedder.ts';

/**
 * An embedder that remembers the vectors of the last `limit` texts. Whoever answers many questions from the same
 * documents compares with the same sentences again and again. Texts that are being embedded are waited for
 * rather than embedded twice, so a signal only keeps a call from beginning.
 */
export function rememberVectors(embedder: Embedder, limit: number): Embedder {
  const documents = createMemory(limit);
  const queries = createMemory(limit);
  return {
    ...embedder,
    async embedDocuments(texts, signal) {
      signal?.throwIfAborted();
      const unknown = [...new Set(texts.filter((text) => !documents.has(text)))];
      if (unknown.length > 0) {
        const made = embedder.embedDocuments(unknown);
        for (const [index, text] of unknown.entries()) {
          documents.put(
            text,
            made.then((vectors) => vectors[index] as Float32Array),
          );
        }
      }
      // Taken before anything is awaited: what comes after may push them out.
      return Promise.all(texts.map((text) => documents.get(text) ?? embedOne(embedder, text)));
    },
    async embedQuery(text, signal) {
      signal?.throwIfAborted();
      if (!queries.has(text)) queries.put(text, embedder.embedQuery(text));
      return queries.get(text) ?? embedder.embedQuery(text);
    },
  };
}

/** More texts at once than are remembered: the first of them are gone already. */
async function embedOne(embedder: Embedder, text: string): Promise<Float32Array> {
  const [vector] = await embedder.embedDocuments([text]);
  return vector as Float32Array;
}

function createMemory(limit: number) {
  /** The one that was used last comes last. */
  const vectors = new Map<string, Promise<Float32Array>>();
  return {
    has: (text: string) => vectors.has(text),
    get(text: string): Promise<Float32Array> | undefined {
      const vector = vectors.get(text);
      if (vector === undefined) return undefined;
      vectors.delete(text);
      vectors.set(text, vector);
      return vector;
    },
    put(text: string, vector: Promise<Float32Array>): void {
      vectors.set(text, vector);
      vector.catch(() => vectors.delete(text));
      const [oldest] = vectors.keys();
      if (vectors.size > limit && oldest !== undefined) vectors.delete(oldest);
    },
  };
}
