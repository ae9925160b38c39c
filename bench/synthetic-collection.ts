import { createHash } from 'node:crypto';
import { createSqliteCatalog } from '../src/adapters/sqlite/sqlite-catalog.ts';
import { chunkId } from '../src/domain/chunk-id.ts';
import type { ChunkStore, DocumentWrite } from '../src/ports/chunk-store.ts';
import { createClusteredVectors } from './clustered-vectors.ts';
import { createRandom } from './random.ts';
import { bookWords } from './sample-book.ts';
import { createTextSource } from './synthetic-text.ts';

const DIMENSIONS = 384;
const CHUNKS_IN_A_DOCUMENT = 20;
const MODULES = 20;
const CENTRES = 200;

export interface SyntheticCollection {
  store: ChunkStore;
  /** Queries that have an answer: a few words of some chunk, and a vector near its own. */
  queries: { text: string; vector: Float32Array; module: string }[];
}

/** A collection of the wanted size, with text as natural and vectors as clustered as real ones. */
export async function createSyntheticCollection(
  directory: string,
  size: number,
  queryCount: number,
): Promise<SyntheticCollection> {
  const random = createRandom(7);
  const text = createTextSource(await bookWords(), random);
  const vectors = createClusteredVectors(CENTRES, DIMENSIONS, random);
  const identity = { embedder: 'synthetic', dimensions: DIMENSIONS };
  const store = await createSqliteCatalog(directory).openOrCreate('synthetic', identity);
  const queries: SyntheticCollection['queries'] = [];
  const documents = Math.ceil(size / CHUNKS_IN_A_DOCUMENT);
  const askEvery = Math.max(1, Math.floor(documents / queryCount));

  for (let document = 0; document < documents; document += 1) {
    const write = syntheticDocument(document, () => text.paragraph(120), vectors.near);
    await store.write([write]);
    const chunk = write.chunks[document % CHUNKS_IN_A_DOCUMENT];
    if (document % askEvery !== 0 || queries.length >= queryCount || chunk === undefined) continue;
    queries.push({
      text: `What is ${chunk.text.split(' ').slice(20, 28).join(' ')}?`,
      vector: vectors.near(document, 1),
      module: write.document.module ?? '',
    });
  }
  await store.settle();
  return { store, queries };
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
