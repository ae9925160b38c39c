import { AppError } from '../faults/app-error.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import { type Embedder, RELEVANT_FROM } from '../ports/embedder.ts';
import { splitSentences } from '../text/split-sentences.ts';

/** So many passages, each with a sentence of its own: pairs of them are squares of that. */
const PASSAGES = 150;
const LEAST_PASSAGES = 12;
const LEAST_DOCUMENTS = 3;
/** Documents that are read at a time. */
const BATCH = 32;
/** Of a sentence that says something by itself. */
const LEAST_CHARACTERS = 12;
const MOST_CHARACTERS = 240;
/**
 * Sentences are compared with passages of other documents. In a collection about one thing many of those are related all
 * the same: the lower tenth is not.
 */
const UNRELATED_SHARE = 0.1;

export interface FittedThreshold {
  documents: number;
  passages: number;
  /** The cosine of texts that have nothing to do with each other. */
  baseline: number;
  /** The cosine from which a passage counts as relevant. */
  threshold: number;
  /** The share of the sentences that reach the threshold with their own passage. */
  ownKept: number;
  /** The share of the pairs of sentences and passages of other documents that reach it. */
  othersKept: number;
}

interface Passage {
  document: string;
  sentence: string;
  vector: Float32Array;
}

/** Finds out by the documents of a collection what an embedder's cosines mean. Throws `invalid_input` if it is too small for that. */
export async function fitThreshold(
  store: ChunkStore,
  embedder: Embedder,
  { signal, onProgress }: { signal?: AbortSignal; onProgress?: (done: number, total: number) => void } = {},
): Promise<FittedThreshold> {
  const passages = await samplePassages(store);
  const documents = new Set(passages.map(({ document }) => document)).size;
  if (passages.length < LEAST_PASSAGES || documents < LEAST_DOCUMENTS) {
    throw new AppError(
      'invalid_input',
      `"${store.name}" is too small to tell what is related in it: ${passages.length} embedded passages of ${documents} documents.`,
      { hint: `Ingest more documents: it takes ${LEAST_DOCUMENTS} of them and ${LEAST_PASSAGES} passages.` },
    );
  }
  const own: number[] = [];
  const others: number[] = [];
  for (const [index, { document, sentence, vector }] of passages.entries()) {
    signal?.throwIfAborted();
    onProgress?.(index, passages.length);
    const query = await embedder.embedQuery(sentence, signal);
    own.push(cosine(query, vector));
    for (const other of passages) if (other.document !== document) others.push(cosine(query, other.vector));
  }
  others.sort((a, b) => a - b);
  const unrelated = others[Math.floor(others.length * UNRELATED_SHARE)] ?? 0;
  const baseline = rounded(Math.max(0, unrelated));
  const threshold = rounded(baseline + (1 - baseline) * RELEVANT_FROM);
  const reaching = (cosines: readonly number[]) =>
    cosines.filter((value) => value >= threshold).length / cosines.length;
  return {
    documents,
    passages: passages.length,
    baseline,
    threshold,
    ownKept: reaching(own),
    othersKept: reaching(others),
  };
}

/** From the whole of the collection, as many of each document as there are too few documents. */
async function samplePassages(store: ChunkStore): Promise<Passage[]> {
  const uris: string[] = [];
  for await (const { uri } of store.documents()) uris.push(uri);
  const chosen = evenly(uris, PASSAGES);
  const each = Math.ceil(PASSAGES / Math.max(1, chosen.length));
  const passages: Passage[] = [];
  for (let start = 0; start < chosen.length; start += BATCH) {
    for (const { document, chunks } of await store.read(chosen.slice(start, start + BATCH))) {
      const usable = chunks.flatMap(({ text, vector }): Passage[] => {
        const sentence = splitSentences(text)
          .map(({ start, end }) => text.slice(start, end))
          .find(({ length }) => length >= LEAST_CHARACTERS && length <= MOST_CHARACTERS);
        return vector === null || sentence === undefined
          ? []
          : [{ document: document.uri, sentence, vector }];
      });
      passages.push(...evenly(usable, each));
    }
  }
  return evenly(passages, PASSAGES);
}

function evenly<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)] as T);
}

function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
