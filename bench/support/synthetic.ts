import { createHash } from 'node:crypto';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { createChunkId } from '../../src/domain/document.ts';
import type { ChunkStore, DocumentWrite } from '../../src/ports/chunk-store.ts';
import { type Embedder, WORD_DIMENSIONS } from '../../src/ports/embedder.ts';
import { createRetriever, type Retriever } from '../../src/retrieval/create-retriever.ts';
import { withWordReranker } from '../../src/retrieval/rerank.ts';
import { findContentWords } from '../../src/text/content-words.ts';
import { readBookWords } from './sample-book.ts';

/** Creates a seeded generator of numbers from 0 to 1 (mulberry32). */
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
/** The share of rare words, such as names and identifiers. */
const RARE_SHARE = 0.15;
const WORDS_PER_SENTENCE = 14;

export interface TextSource {
  /** Generates a paragraph with this number of words. */
  paragraph(words: number): string;
}

/** Generates text from the words of a natural text and synthetic rare words. */
export function createTextSource(words: readonly string[], random: () => number): TextSource {
  function word(): string {
    if (random() >= RARE_SHARE) return words[Math.floor(random() * words.length)] ?? '';
    return Array.from({ length: 4 }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join('');
  }

  return {
    paragraph(count) {
      let text = '';
      for (let i = 1; i <= count; i += 1) {
        text += word() + (i % WORDS_PER_SENTENCE === 0 || i === count ? '. ' : ' ');
      }
      return text.trimEnd();
    },
  };
}

/** Unit vectors in clusters, like real embeddings of documents. */
export interface ClusteredVectors {
  /** Generates a vector near a cluster center. */
  near(center: number, spread?: number): Float32Array;
}

export function createClusteredVectors(
  centers: number,
  dimensions: number,
  random: () => number,
): ClusteredVectors {
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const directions = Array.from({ length: centers }, () =>
    normalize(Float32Array.from({ length: dimensions }, normal)),
  );
  return {
    near(center, spread = 0.8) {
      const noise = spread / Math.sqrt(dimensions);
      const direction = directions[center % centers] as Float32Array;
      return normalize(direction.map((value) => value + noise * normal()));
    },
  };
}

function normalize(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
  return vector.map((value) => value / length);
}

const DIMENSIONS = 384;
const CHUNKS_PER_DOCUMENT = 20;
const MODULES = 20;
const CLUSTERS = 200;

export const SYNTHETIC_IDENTITY = { embedder: 'synthetic', dimensions: DIMENSIONS };

export interface SyntheticQuery {
  text: string;
  vector: Float32Array;
  module: string;
}

export interface SyntheticDocuments {
  /** Generated one at a time to save memory. Call it once. */
  documents(): Generator<DocumentWrite>;
  /** Queries about the documents generated so far: a few words of a chunk and a vector near its vector. */
  queries: SyntheticQuery[];
}

/**
 * Generates chunks with natural text, clustered vectors and the word vectors of the first `words` content words, the same
 * on every run.
 */
export async function createSyntheticDocuments(
  size: number,
  queryCount: number,
  words = 0,
): Promise<SyntheticDocuments> {
  const wordVectors = createWordVectors();
  const random = createRandom(7);
  const text = createTextSource(await readBookWords(), random);
  const vectors = createClusteredVectors(CLUSTERS, DIMENSIONS, random);
  const queries: SyntheticQuery[] = [];
  const count = Math.ceil(size / CHUNKS_PER_DOCUMENT);
  const queryInterval = Math.max(1, Math.floor(count / queryCount));
  return {
    queries,
    *documents() {
      for (let document = 0; document < count; document += 1) {
        const write = syntheticDocument(document, () => text.paragraph(120), vectors.near);
        if (words > 0) {
          const path = wordVectors(write.document.title);
          for (const chunk of write.chunks) chunk.words = { text: wordVectors(chunk.text, words), path };
        }
        yield write;
        const chunk = write.chunks[document % CHUNKS_PER_DOCUMENT];
        if (document % queryInterval !== 0 || queries.length >= queryCount || chunk === undefined) continue;
        queries.push({
          text: `What is ${chunk.text.split(' ').slice(20, 28).join(' ')}?`,
          vector: vectors.near(document, 1),
          module: write.document.module ?? '',
        });
      }
    },
  };
}

/** Returns a function that gives every term its own random unit vector. */
function createWordVectors(): (text: string, limit?: number) => Int8Array {
  const known = new Map<string, Int8Array>();
  function vectorOf(term: string): Int8Array {
    const found = known.get(term);
    if (found !== undefined) return found;
    const random = createRandom(Number.parseInt(sha256(term).slice(0, 8), 16));
    const unit = createClusteredVectors(1, WORD_DIMENSIONS, random).near(0);
    const vector = Int8Array.from(unit, (value) => Math.round(127 * value));
    known.set(term, vector);
    return vector;
  }
  return (text, limit) => {
    const terms = findContentWords(text).slice(0, limit);
    const vectors = new Int8Array(terms.length * WORD_DIMENSIONS);
    terms.forEach(({ term }, word) => {
      vectors.set(vectorOf(term), word * WORD_DIMENSIONS);
    });
    return vectors;
  };
}

/** Creates a retriever that reranks, with the vectors of these queries instead of an embedder. */
export function createSyntheticRetriever(
  store: ChunkStore,
  queries: readonly Pick<SyntheticQuery, 'text' | 'vector'>[],
): Retriever {
  const vectors = new Map(queries.map(({ text, vector }) => [text, vector]));
  const vectorOf = (text: string) => vectors.get(text) as Float32Array;
  const words = createWordVectors();
  const embedder = async () =>
    ({
      embedQuery: async (text: string) => vectorOf(text),
      embedWords: async (texts: readonly string[]) =>
        texts.map((text) => ({ vector: vectorOf(text), words: words(text) })),
    }) as Partial<Embedder> as Embedder;
  const retriever = createRetriever({ store, embedder, scoreThreshold: 0, mode: 'hybrid' });
  return withWordReranker(retriever, { store, embedder });
}

function syntheticDocument(
  document: number,
  paragraph: () => string,
  near: (center: number) => Float32Array,
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
      contentHash: sha256(url),
      fingerprint: '',
    },
    chunks: Array.from({ length: CHUNKS_PER_DOCUMENT }, (_, index) => {
      const text = paragraph();
      return {
        text,
        start: 0,
        end: text.length,
        chunkIndex: index,
        headings: [`Section ${index}`],
        embedded: text,
        tokenCount: 180,
        contentHash: sha256(text),
        chunkId: createChunkId(url, index),
        vector: near(document),
        words: null,
      };
    }),
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export interface SyntheticCollection {
  store: ChunkStore;
  queries: SyntheticQuery[];
}

/** Creates a SQLite collection of synthetic documents. */
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
