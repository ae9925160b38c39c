import { createHash } from 'node:crypto';
import { chunkId } from '../src/domain/chunk-id.ts';
import type { DocumentWrite } from '../src/ports/chunk-store.ts';
import { createClusteredVectors } from './clustered-vectors.ts';
import { createRandom } from './random.ts';
import { bookWords } from './sample-book.ts';
import { createTextSource } from './synthetic-text.ts';

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
