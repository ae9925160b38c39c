import { createHash } from 'node:crypto';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { chunkId } from '../../src/domain/document.ts';
import type { ChunkStore, DocumentWrite } from '../../src/ports/chunk-store.ts';
import { bookWords } from './sample-book.ts';

/** Numbers in 0..1 that are the same on every run (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SYLLABLES = [
  'ba',
  'ce',
  'dor',
  'fi',
  'gu',
  'hal',
  'jin',
  'ko',
  'lum',
  'mer',
  'nat',
  'op',
  'qui',
  'ros',
  'tav',
  'vex',
];
/** A share of words that few chunks have in common, as names and identifiers are. */
const RARE_SHARE = 0.15;
const WORDS_IN_A_SENTENCE = 14;

export interface TextSource {
  /** A paragraph of so many words. */
  paragraph(words: number): string;
}

/** Text with a natural distribution of words, from a natural text's words and made-up rare ones. */
export function createTextSource(words: readonly string[], random: () => number): TextSource {
  function word(): string {
    if (random() >= RARE_SHARE) return words[Math.floor(random() * words.length)] ?? '';
    return Array.from({ length: 4 }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join('');
  }

  return {
    paragraph(count) {
      let text = '';
      for (let i = 1; i <= count; i += 1) {
        text += word() + (i % WORDS_IN_A_SENTENCE === 0 || i === count ? '. ' : ' ');
      }
      return text.trimEnd();
    },
  };
}

/** Vectors of unit length around a number of centres, as real embeddings of documents lie. */
export interface ClusteredVectors {
  /** One near the given centre. */
  near(centre: number, spread?: number): Float32Array;
}

export function createClusteredVectors(
  centres: number,
  dimensions: number,
  random: () => number,
): ClusteredVectors {
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const directions = Array.from({ length: centres }, () =>
    unit(Float32Array.from({ length: dimensions }, normal)),
  );
  return {
    near(centre, spread = 0.8) {
      const noise = spread / Math.sqrt(dimensions);
      const direction = directions[centre % centres] as Float32Array;
      return unit(direction.map((value) => value + noise * normal()));
    },
  };
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
  return vector.map((value) => value / length);
}

const DIMENSIONS = 384;
const CHUNKS_IN_A_DOCUMENT = 20;
const MODULES = 20;
const CENTRES = 200;

export const SYNTHETIC_IDENTITY = { embedder: 'synthetic', dimensions: DIMENSIONS };

export interface SyntheticQuery {
  text: string;
  vector: Float32Array;
  module: string;
}

export interface SyntheticDocuments {
  /** One after the other: a hundred thousand chunks need not be in memory. To be called once. */
  documents(): Generator<DocumentWrite>;
  /** Queries that have an answer among the documents made so far: a few words of a chunk, a vector near its own. */
  queries: SyntheticQuery[];
}

/** As many chunks as wanted, with text as natural and vectors as clustered as real ones; the same on every run. */
export async function createSyntheticDocuments(
  size: number,
  queryCount: number,
): Promise<SyntheticDocuments> {
  const random = createRandom(7);
  const text = createTextSource(await bookWords(), random);
  const vectors = createClusteredVectors(CENTRES, DIMENSIONS, random);
  const queries: SyntheticQuery[] = [];
  const count = Math.ceil(size / CHUNKS_IN_A_DOCUMENT);
  const askEvery = Math.max(1, Math.floor(count / queryCount));
  return {
    queries,
    *documents() {
      for (let document = 0; document < count; document += 1) {
        const write = syntheticDocument(document, () => text.paragraph(120), vectors.near);
        yield write;
        const chunk = write.chunks[document % CHUNKS_IN_A_DOCUMENT];
        if (document % askEvery !== 0 || queries.length >= queryCount || chunk === undefined) continue;
        queries.push({
          text: `What is ${chunk.text.split(' ').slice(20, 28).join(' ')}?`,
          vector: vectors.near(document, 1),
          module: write.document.module ?? '',
        });
      }
    },
  };
}

function syntheticDocument(
  document: number,
  paragraph: () => string,
  near: (centre: number) => Float32Array,
): DocumentWrite {
  const url = `https://synthetic.test/${document}`;
  return {
    document: {
      uri: url,
      url,
      root: 'https://synthetic.test/',
      title: `Document ${document}`,
      module: `module-${document % MODULES}`,
      chapter: null,
      metadata: {},
      contentHash: hashOf(url),
      fingerprint: '',
    },
    chunks: Array.from({ length: CHUNKS_IN_A_DOCUMENT }, (_, index) => {
      const text = paragraph();
      return {
        text,
        start: 0,
        end: text.length,
        chunkIndex: index,
        headings: [`Section ${index}`],
        embedded: text,
        tokenCount: 180,
        contentHash: hashOf(text),
        chunkId: chunkId(url, index),
        vector: near(document),
      };
    }),
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export interface SyntheticCollection {
  store: ChunkStore;
  queries: SyntheticQuery[];
}

/** A collection of the wanted size, with text as natural and vectors as clustered as real ones. */
export async function createSyntheticCollection(
  directory: string,
  size: number,
  queryCount: number,
): Promise<SyntheticCollection> {
  const { documents, queries } = await createSyntheticDocuments(size, queryCount);
  const store = await createSqliteCatalog(directory).openOrCreate('synthetic', SYNTHETIC_IDENTITY);
  for (const write of documents()) await store.write([write]);
  await store.settle();
  return { store, queries };
}
