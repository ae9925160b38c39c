import { dotProduct } from '../../src/domain/unit-vectors.ts';
import { AppError } from '../../src/faults/app-error.ts';
import type { ChunkStore } from '../../src/ports/chunk-store.ts';
import { DEFAULT_SCORE_THRESHOLD, type Embedder } from '../../src/ports/embedder.ts';
import { splitSentences } from '../../src/text/split-sentences.ts';

/** Sampled passages; every sentence is compared with every passage. */
const SAMPLE_PASSAGES = 150;
const MIN_PASSAGES = 12;
const MIN_DOCUMENTS = 3;
const READ_BATCH = 32;
const MIN_SENTENCE_CHARACTERS = 12;
const MAX_SENTENCE_CHARACTERS = 240;
/** Passages of other documents are often related too, in a collection about one subject. The lowest tenth is not. */
const UNRELATED_SHARE = 0.1;

export interface FittedThreshold {
  documents: number;
  passages: number;
  /** The cosine of unrelated texts. */
  baseline: number;
  /** The cosine from which a passage counts as relevant. */
  threshold: number;
  /** The share of sentences that reach the threshold with their own passage. */
  ownKept: number;
  /** The share of sentences and passages of other documents that reach it. */
  othersKept: number;
}

interface SampledPassage {
  document: string;
  sentence: string;
  vector: Float32Array;
}

/** Estimates an embedder's threshold from a collection. Throws `invalid_input` if the collection is too small. */
export async function fitThreshold(
  store: ChunkStore,
  embedder: Embedder,
  { signal, onProgress }: { signal?: AbortSignal; onProgress?: (done: number, total: number) => void } = {},
): Promise<FittedThreshold> {
  const passages = await samplePassages(store);
  const documents = new Set(passages.map(({ document }) => document)).size;
  if (passages.length < MIN_PASSAGES || documents < MIN_DOCUMENTS) {
    throw new AppError(
      'invalid_input',
      `"${store.name}" is too small to fit a threshold: ${passages.length} embedded passages of ${documents} documents.`,
      { hint: `Ingest at least ${MIN_DOCUMENTS} documents with ${MIN_PASSAGES} passages.` },
    );
  }
  const own: number[] = [];
  const others: number[] = [];
  for (const [index, { document, sentence, vector }] of passages.entries()) {
    signal?.throwIfAborted();
    onProgress?.(index, passages.length);
    const query = await embedder.embedQuery(sentence, signal);
    own.push(dotProduct(query, vector));
    for (const other of passages) {
      if (other.document !== document) others.push(dotProduct(query, other.vector));
    }
  }
  others.sort((a, b) => a - b);
  const unrelated = others[Math.floor(others.length * UNRELATED_SHARE)] ?? 0;
  const baseline = toThreeDecimals(Math.max(0, unrelated));
  const threshold = toThreeDecimals(baseline + (1 - baseline) * DEFAULT_SCORE_THRESHOLD);
  const shareAbove = (cosines: readonly number[]) =>
    cosines.filter((value) => value >= threshold).length / cosines.length;
  return {
    documents,
    passages: passages.length,
    baseline,
    threshold,
    ownKept: shareAbove(own),
    othersKept: shareAbove(others),
  };
}

/** Samples documents evenly, and more passages of each if there are few documents. */
async function samplePassages(store: ChunkStore): Promise<SampledPassage[]> {
  const uris = await Array.fromAsync(store.documents(), ({ uri }) => uri);
  const chosen = sampleEvenly(uris, SAMPLE_PASSAGES);
  const perDocument = Math.ceil(SAMPLE_PASSAGES / Math.max(1, chosen.length));
  const passages: SampledPassage[] = [];
  for (let start = 0; start < chosen.length; start += READ_BATCH) {
    for (const { document, chunks } of await store.read(chosen.slice(start, start + READ_BATCH))) {
      const usable = chunks.flatMap(({ text, vector }): SampledPassage[] => {
        const sentence = splitSentences(text)
          .map(({ start, end }) => text.slice(start, end))
          .find(({ length }) => length >= MIN_SENTENCE_CHARACTERS && length <= MAX_SENTENCE_CHARACTERS);
        return vector === null || sentence === undefined
          ? []
          : [{ document: document.uri, sentence, vector }];
      });
      passages.push(...sampleEvenly(usable, perDocument));
    }
  }
  return sampleEvenly(passages, SAMPLE_PASSAGES);
}

function sampleEvenly<T>(items: readonly T[], limit: number): T[] {
  if (items.length <= limit) return [...items];
  return Array.from({ length: limit }, (_, index) => items[Math.floor((index * items.length) / limit)] as T);
}

function toThreeDecimals(value: number): number {
  return Math.round(value * 1000) / 1000;
}
