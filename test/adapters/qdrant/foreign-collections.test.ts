import { randomUUID } from 'node:crypto';
import { QdrantClient, type Schemas } from '@qdrant/js-client-rest';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createQdrantCatalog,
  type QdrantCatalogOptions,
} from '../../../src/adapters/qdrant/qdrant-catalog.ts';
import { retrievedChunkSchema } from '../../../src/domain/retrieved-chunk.ts';
import type { ChunkStore } from '../../../src/ports/chunk-store.ts';
import { blend, sampleDocument, vectorOf } from '../../contracts/sample-documents.ts';
import { getTestQdrant, type QdrantServer } from '../../support/qdrant-server.ts';

const DIMENSIONS = 8;
const QUERY = vectorOf('query', DIMENSIONS);
const server = await getTestQdrant();

interface Sample {
  vectors?: Schemas['VectorsConfig'];
  /** Wraps a vector as the points of the collection store it. */
  hold?: (vector: number[]) => Schemas['VectorStruct'];
  payloads: Record<string, unknown>[];
  options?: Partial<QdrantCatalogOptions>;
}

/** Creates a collection with the plain client, with points in ascending distance from the query. */
async function foreignCollection({ vectors, hold = (vector) => vector, payloads, options = {} }: Sample) {
  const { url, apiKey } = server as QdrantServer;
  const client = new QdrantClient({ url, checkCompatibility: false, ...(apiKey && { apiKey }) });
  const collectionPrefix = `test_${randomUUID().slice(0, 8)}_`;
  const collection = `${collectionPrefix}theirs`;
  onTestFinished(async () => void (await client.deleteCollection(collection)));
  await client.createCollection(collection, {
    vectors: vectors ?? { size: DIMENSIONS, distance: 'Cosine' },
  });
  await client.upsert(collection, {
    wait: true,
    points: payloads.map((payload, index) => ({
      id: index + 1,
      vector: hold(Array.from(blend(QUERY, vectorOf('far', DIMENSIONS), index / payloads.length))),
      payload,
    })),
  });
  return createQdrantCatalog({ url, apiKey, collectionPrefix, foreignEmbedder: 'test:theirs', ...options });
}

async function openTheirs(sample: Sample): Promise<ChunkStore> {
  const store = await (await foreignCollection(sample)).open('theirs');
  if (store === null) throw new Error('the collection is not there');
  return store;
}

function nearest(store: ChunkStore, filter: Record<string, string[]> = {}) {
  return store.search({ text: 'words', vector: QUERY, limit: 5, filter });
}

const PAGES = [0, 1, 2].map((index) => ({
  chunk_text: `part ${index}`,
  source_url: 'https://theirs.example/page',
  page_title: 'A page',
  module_name: index < 2 ? 'basics' : 'more',
  chunk_index: index,
  heading_hierarchy: ['Guide', 'Install'],
  language: 'en',
}));

describe.skipIf(server === null)('collections of other programs', () => {
  test('are listed, and read by common field names', async () => {
    const catalog = await foreignCollection({ payloads: PAGES });
    expect(await catalog.list()).toEqual(['theirs']);
    const store = (await catalog.open('theirs')) as ChunkStore;
    expect(store.identity).toEqual({ embedder: 'test:theirs', dimensions: DIMENSIONS });
    const hits = await nearest(store);
    expect(hits.map(({ chunk }) => chunk.text)).toEqual(['part 0', 'part 1', 'part 2']);
    expect(hits[0]).toMatchObject({ lexical: null, dense: { rank: 1 } });
    expect(hits[0]?.score).toBeCloseTo(1, 5);
    expect(hits[0]?.chunk).toMatchObject({
      chunkId: '1',
      url: 'https://theirs.example/page',
      title: 'A page',
      module: 'basics',
      chapter: null,
      headings: ['Guide', 'Install'],
      chunkIndex: 0,
    });
    for (const { chunk, score } of hits) {
      expect(retrievedChunkSchema.safeParse({ ...chunk, score, rank: 1 }).error).toBeUndefined();
    }
  });

  test('are filtered by mapped field names and by their own', async () => {
    const store = await openTheirs({ payloads: PAGES });
    const texts = async (filter: Record<string, string[]>) =>
      (await nearest(store, filter)).map(({ chunk }) => chunk.text);
    expect(await texts({ module: ['more'] })).toEqual(['part 2']);
    expect(await texts({ url: ['https://theirs.example/page'], language: ['en'] })).toHaveLength(3);
    expect(await texts({ language: ['de'] })).toEqual([]);
    expect(await store.count({ module: ['basics'] })).toBe(2);
  });

  test('return chunks by id, neighbours, documents and counts', async () => {
    const store = await openTheirs({ payloads: PAGES });
    expect((await store.chunks(['3', 'nonsense', '99', '1'])).map(({ text }) => text)).toEqual([
      'part 2',
      'part 0',
    ]);
    expect((await store.neighbours('2', 1, 0)).map(({ text }) => text)).toEqual(['part 0', 'part 1']);
    expect(await store.neighbours('nonsense', 1, 1)).toEqual([]);
    const documents = await Array.fromAsync(store.documents());
    expect(documents.map(({ url, title }) => [url, title])).toEqual([
      ['https://theirs.example/page', 'A page'],
    ]);
    expect(await store.info()).toMatchObject({
      documents: 1,
      chunks: 3,
      modules: [
        { name: 'basics', chunks: 2 },
        { name: 'more', chunks: 1 },
      ],
    });
    expect(await store.vectors(['anything'])).toEqual(new Map());
    expect(await store.check()).toEqual([]);
  });

  test.each<[string, Partial<Sample>]>([
    ['one vector without a name', {}],
    [
      'a named vector',
      {
        vectors: { theirs: { size: DIMENSIONS, distance: 'Cosine' } },
        hold: (vector: number[]) => ({ theirs: vector }),
      },
    ],
    ['distances instead of similarities', { vectors: { size: DIMENSIONS, distance: 'Euclid' } }],
    ['dot products', { vectors: { size: DIMENSIONS, distance: 'Dot' } }],
  ])('are searched by %s', async (_, sample) => {
    const hits = await nearest(await openTheirs({ payloads: PAGES, ...sample }));
    expect(hits.map(({ chunk }) => chunk.chunkId)).toEqual(['1', '2', '3']);
    expect(hits[0]?.score).toBeCloseTo(1, 3);
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  });

  test('are read by the payload map', async () => {
    const payloads = [{ body: 'right', text: 'wrong', meta: { link: 'https://x.example/' }, path: 'A > B' }];
    const payloadMap = { text: 'body', url: 'meta.link', headings: 'path' };
    const [hit] = await nearest(await openTheirs({ payloads, options: { payloadMap } }));
    expect(hit?.chunk).toMatchObject({ text: 'right', url: 'https://x.example/', headings: ['A', 'B'] });
    const langchain = [{ page_content: 'words', metadata: { source: 'https://y.example/', title: 'Y' } }];
    const [other] = await nearest(await openTheirs({ payloads: langchain }));
    expect(other?.chunk).toMatchObject({ text: 'words', url: 'https://y.example/', title: 'Y' });
  });

  test('are refused without a text field, with the names of their fields', async () => {
    const catalog = await foreignCollection({ payloads: [{ colour: 'red', size: 3 }] });
    await expect(catalog.open('theirs')).rejects.toMatchObject({
      kind: 'configuration_error',
      hint: expect.stringMatching(/payloadMap text=colour.*size/),
    });
  });

  test('are read-only', async () => {
    const catalog = await foreignCollection({ payloads: PAGES });
    const store = (await catalog.open('theirs')) as ChunkStore;
    const refusal = {
      kind: 'configuration_error',
      message: expect.stringContaining('not created by citeloop'),
    };
    await expect(store.write([sampleDocument('a', DIMENSIONS, { chunks: ['x'] })])).rejects.toMatchObject(
      refusal,
    );
    await expect(store.remove(['https://theirs.example/page'])).rejects.toMatchObject(refusal);
    await expect(catalog.openOrCreate('theirs', store.identity)).rejects.toMatchObject(refusal);
    await store.settle();
    await store.close();
    expect(await store.count({})).toBe(3);
  });

  test('refuse text searches and vectors of another length', async () => {
    const store = await openTheirs({ payloads: PAGES });
    await expect(store.search({ text: 'words', vector: null, limit: 5, filter: {} })).rejects.toMatchObject({
      kind: 'configuration_error',
    });
    const vector = vectorOf('short', 4);
    await expect(store.search({ text: null, vector, limit: 5, filter: {} })).rejects.toMatchObject({
      kind: 'configuration_error',
      message: expect.stringContaining('4 dimensions'),
    });
  });
});
