import { randomUUID } from 'node:crypto';
import { QdrantClient, type Schemas } from '@qdrant/js-client-rest';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseAddress } from '../../../src/adapters/qdrant/connection.ts';
import { createQdrantCatalog } from '../../../src/adapters/qdrant/qdrant-catalog.ts';
import type { ChunkStore } from '../../../src/ports/chunk-store.ts';
import { sampleDocument, vectorOf } from '../../contracts/sample-documents.ts';
import { type QdrantServer, serverForTests } from '../../support/qdrant-server.ts';

const IDENTITY = { embedder: 'test:catalog', dimensions: 8 };
const server = (await serverForTests()) as QdrantServer;

/** A catalog and the plain client, with the names that its collection `book` has on the server. */
function library(options = {}) {
  const { url, apiKey } = server;
  const collectionPrefix = `test_${randomUUID().slice(0, 8)}_`;
  const catalog = createQdrantCatalog({ url, apiKey, collectionPrefix, ...options });
  const client = new QdrantClient({ url, checkCompatibility: false, ...(apiKey && { apiKey }) });
  onTestFinished(async () => void (await catalog.delete('book')));
  const chunks = `${collectionPrefix}book`;
  return { catalog, client, chunks, documents: `${chunks}__documents` };
}

describe.skipIf(server === null)('a catalog on a real server', () => {
  test('makes collections with the vectors, indexes and storage that were asked for', async () => {
    const { catalog, client, chunks } = library({
      shardNumber: 2,
      replicationFactor: 1,
      quantization: 'int8',
    });
    const store = await catalog.openOrCreate('book', IDENTITY);
    const { config, payload_schema: indexes } = await client.getCollection(chunks);
    expect(config.params).toMatchObject({
      vectors: { dense: { size: 8, distance: 'Cosine' } },
      sparse_vectors: { terms: {} },
      shard_number: 2,
      replication_factor: 1,
    });
    expect(config.quantization_config).toMatchObject({ scalar: { type: 'int8' } });
    expect(Object.keys(indexes)).toEqual(expect.arrayContaining(['module', 'url', 'uri', 'contentHash']));
    await store.write([sampleDocument('a', 8, { chunks: ['zebra', 'walrus'] })]);
    const vector = vectorOf('zebra', 8);
    const [hit] = await store.search({ text: 'zebra', vector, limit: 1, filter: {} });
    expect(hit?.chunk.text).toBe('zebra');
    expect(hit?.dense?.score).toBeCloseTo(1, 5);
  });

  test.each(['documents', 'chunks'] as const)(
    'takes a collection whose %s are gone for none, and makes it anew',
    async (gone) => {
      const { catalog, client, ...names } = library();
      const store = await catalog.openOrCreate('book', IDENTITY);
      await store.write([sampleDocument('a', 8, { chunks: ['zebra'] })]);
      await client.deleteCollection(names[gone]);
      expect(await catalog.open('book')).toBeNull();
      const again = await catalog.openOrCreate('book', IDENTITY);
      expect(await again.info()).toMatchObject({ documents: 0, chunks: 0 });
      expect(await again.check()).toEqual([]);
    },
  );

  test('lets several processes make the same collection at once', async () => {
    const { catalog } = library();
    const stores = await Promise.all([1, 2, 3].map(() => catalog.openOrCreate('book', IDENTITY)));
    await Promise.all(
      stores.map((store, index) => store.write([sampleDocument(`d${index}`, 8, { chunks: ['zebra'] })])),
    );
    expect(await stores[0]?.info()).toMatchObject({ documents: 3, chunks: 3 });
    expect(await stores[1]?.check()).toEqual([]);
  });

  test('refuses a collection of a newer version with what to do', async () => {
    const { catalog, client, documents } = library();
    await catalog.openOrCreate('book', IDENTITY);
    await client.setPayload(documents, { payload: { format: 99 }, filter: {}, wait: true });
    await expect(catalog.open('book')).rejects.toMatchObject({
      kind: 'configuration_error',
      hint: expect.stringContaining('Update citeloop'),
    });
    await client.setPayload(documents, { payload: { format: 1 }, filter: {}, wait: true });
  });

  test('reads a collection of version 0.2, leaves out what a write left there, and tidies up at the next', async () => {
    const { catalog, client, chunks, documents } = library();
    const made = await catalog.openOrCreate('book', IDENTITY);
    await made.write([sampleDocument('a', 8, { chunks: ['zebra'] })]);
    const head = ['00000000-0000-0000-0000-000000000000'];
    await client.deletePayload(documents, { keys: ['wholeAt'], points: head, wait: true });
    await client.setPayload(documents, { payload: { dirty: true }, points: head, wait: true });
    const [left] = (await client.scroll(chunks, { limit: 1, with_vector: true })).points;
    const payload = { ...left?.payload, born: 99 };
    const vector = left?.vector as Schemas['VectorStruct'];
    await client.upsert(chunks, { points: [{ id: 1, vector, payload }], wait: true });

    const store = (await catalog.open('book')) as ChunkStore;
    expect(await store.count({})).toBe(1);
    expect(await store.search({ text: 'zebra', vector: null, limit: 5, filter: {} })).toHaveLength(1);
    await store.write([sampleDocument('b', 8, { chunks: ['walrus'] })]);
    expect((await client.count(chunks, { exact: true })).count).toBe(2);
    const [after] = await client.retrieve(documents, { ids: head, with_payload: true });
    expect(after?.payload?.wholeAt).toBe(after?.payload?.epoch);
    expect(await store.count({})).toBe(2);
    expect(await store.check()).toEqual([]);
  });

  test('finds what is wrong with a collection', async () => {
    const { catalog, client, chunks } = library();
    const store = await catalog.openOrCreate('book', IDENTITY);
    await store.write([sampleDocument('a', 8, { chunks: ['zebra', 'walrus', 'okapi'] })]);
    const { points } = await client.scroll(chunks, { limit: 3 });
    await client.deleteVectors(chunks, { vector: ['terms'], points: [points[0]?.id ?? 0], wait: true });
    await client.delete(chunks, { points: [points[1]?.id ?? 0], wait: true });
    expect((await store.check()).join('\n')).toMatch(/1 chunks are without terms.*1 documents have other/s);
  });
});

test.each([
  ['http://127.0.0.1', 'http://127.0.0.1:6333', ''],
  ['https://x.cloud.example', 'https://x.cloud.example:6333', ''],
  ['https://x.cloud.example:443/', 'https://x.cloud.example:443', ''],
  ['http://proxy.example:80/qdrant/', 'http://proxy.example:80', '/qdrant'],
  ['http://[::1]:7000', 'http://[::1]:7000', ''],
])('the address %s is that of %s%s', (url, origin, path) => {
  expect(parseAddress(url)).toMatchObject({ origin, path });
});
