import { randomUUID } from 'node:crypto';
import { QdrantClient } from '@qdrant/js-client-rest';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createQdrantCatalog } from '../../../src/adapters/qdrant/qdrant-catalog.ts';
import { parseServerAddress } from '../../../src/adapters/qdrant/qdrant-connection.ts';
import { formatHint } from '../../../src/cli/format-advice.ts';
import type { AppError } from '../../../src/faults/app-error.ts';
import type { ChunkRecord, DocumentWrite } from '../../../src/ports/chunk-store.ts';
import { WORD_DIMENSIONS } from '../../../src/ports/embedder.ts';
import { sampleDocument, vectorOf } from '../../contracts/sample-documents.ts';
import { getTestQdrant, type QdrantServer } from '../../support/qdrant-server.ts';

const IDENTITY = { embedder: 'test:catalog', dimensions: 8 };
const server = (await getTestQdrant()) as QdrantServer;

/** A catalog, a plain client, and the names of the collection `book` on the server. */
function createLibrary(options = {}) {
  const { url, apiKey } = server;
  const collectionPrefix = `test_${randomUUID().slice(0, 8)}_`;
  const catalog = createQdrantCatalog({ url, apiKey, collectionPrefix, ...options });
  const client = new QdrantClient({ url, checkCompatibility: false, ...(apiKey && { apiKey }) });
  onTestFinished(async () => void (await catalog.delete('book')));
  const chunks = `${collectionPrefix}book`;
  return { catalog, client, chunks, documents: `${chunks}__documents` };
}

describe.skipIf(server === null)('a catalog on a real server', () => {
  test('creates collections with the given storage options', async () => {
    const { catalog, client, chunks } = createLibrary({
      shardNumber: 2,
      replicationFactor: 1,
      quantization: 'int8',
    });
    const store = await catalog.openOrCreate('book', IDENTITY);
    const { config, payload_schema: indexes } = await client.getCollection(chunks);
    expect(config.params).toMatchObject({
      vectors: {
        dense: { size: 8, distance: 'Cosine', quantization_config: { scalar: { type: 'int8' } } },
        words: { multivector_config: { comparator: 'max_sim' }, hnsw_config: { m: 0 } },
      },
      sparse_vectors: { terms: {} },
      shard_number: 2,
      replication_factor: 1,
    });
    expect(Object.keys(indexes)).toEqual(expect.arrayContaining(['module', 'url', 'uri', 'contentHash']));
    await store.write([sampleDocument('a', 8, { chunks: ['zebra', 'walrus'] })]);
    const vector = vectorOf('zebra', 8);
    const [hit] = await store.search({ text: 'zebra', vector, limit: 1, filter: {} });
    expect(hit?.chunk.text).toBe('zebra');
    expect(hit?.dense?.score).toBeCloseTo(1, 5);
  });

  test.each(['documents', 'chunks'] as const)(
    'treats a collection without its %s as missing, and creates it again',
    async (gone) => {
      const { catalog, client, ...names } = createLibrary();
      const store = await catalog.openOrCreate('book', IDENTITY);
      await store.write([sampleDocument('a', 8, { chunks: ['zebra'] })]);
      await client.deleteCollection(names[gone]);
      expect(await catalog.open('book')).toBeNull();
      const again = await catalog.openOrCreate('book', IDENTITY);
      expect(await again.info()).toMatchObject({ documents: 0, chunks: 0 });
      expect(await again.check()).toEqual([]);
    },
  );

  test('lets several processes create the same collection at once', async () => {
    const { catalog } = createLibrary();
    const stores = await Promise.all([1, 2, 3].map(() => catalog.openOrCreate('book', IDENTITY)));
    await Promise.all(
      stores.map((store, index) => store.write([sampleDocument(`d${index}`, 8, { chunks: ['zebra'] })])),
    );
    expect(await stores[0]?.info()).toMatchObject({ documents: 3, chunks: 3 });
    expect(await stores[1]?.check()).toEqual([]);
  });

  test.each([
    ['older', {}, 'collections delete book'],
    ['newer', { format: 99 }, 'Update citeloop'],
  ])('refuses a collection of an %s format and says what to do', async (_, format, advised) => {
    const { catalog, client, chunks } = createLibrary();
    const metadata = { createdBy: 'citeloop', ...format };
    await client.createCollection(chunks, { vectors: {}, metadata });
    for (const open of [() => catalog.open('book'), () => catalog.openOrCreate('book', IDENTITY)]) {
      const error = await open().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ kind: 'configuration_error' });
      expect(formatHint(error as AppError)).toContain(advised);
    }
    expect(await catalog.delete('book')).toBe(true);
  });

  test('searches and extends a collection that was created without word vectors', async () => {
    const { catalog, client, chunks } = createLibrary();
    await catalog.openOrCreate('book', IDENTITY);
    const { config } = await client.getCollection(chunks);
    await client.deleteCollection(chunks);
    await client.createCollection(chunks, {
      vectors: { dense: { size: 8, distance: 'Cosine' } },
      sparse_vectors: { terms: {} },
      metadata: config.metadata ?? {},
    });
    const store = await catalog.openOrCreate('book', IDENTITY);
    const words = { text: new Int8Array(WORD_DIMENSIONS).fill(9), path: new Int8Array() };
    const full = sampleDocument('zebra', 8, { chunks: ['zebra'] });
    const bare = sampleDocument('walrus', 8, { chunks: ['walrus'] });
    const changed = ({ document, chunks: own }: DocumentWrite, changes = {}) => ({
      document,
      chunks: own.map((chunk) => ({ ...chunk, words, ...changes })),
    });
    await store.write([changed(full), changed(bare, { vector: null })]);
    const { chunkId, contentHash } = bare.chunks[0] as ChunkRecord;
    expect(await store.unembedded({ words: true })).toMatchObject([{ chunkId }]);
    const vector = vectorOf('zebra', 8);
    await store.addVectors(new Map([[contentHash, { vector, words }]]));
    expect(await store.unembedded({ words: true })).toEqual([]);
    expect((await store.read([full.document.uri]))[0]?.chunks[0]?.words).toBeNull();
    expect((await store.vectors([contentHash])).get(contentHash)?.words).toBeNull();
    expect(await store.wordVectors([chunkId])).toEqual(new Map());
    expect(await store.scoreWords?.({ vectors: words.text, weights: [1] }, [chunkId])).toEqual(new Map());
    expect(await store.search({ text: null, vector, limit: 5, filter: {} })).toHaveLength(2);
  });

  test('reports missing chunks and terms', async () => {
    const { catalog, client, chunks } = createLibrary();
    const store = await catalog.openOrCreate('book', IDENTITY);
    await store.write([sampleDocument('a', 8, { chunks: ['zebra', 'walrus', 'okapi'] })]);
    const { points } = await client.scroll(chunks, { limit: 3 });
    await client.deleteVectors(chunks, { vector: ['terms'], points: [points[0]?.id ?? 0], wait: true });
    await client.delete(chunks, { points: [points[1]?.id ?? 0], wait: true });
    expect((await store.check()).join('\n')).toMatch(/1 chunks have no terms.*1 documents have missing/s);
  });
});

test.each([
  ['http://127.0.0.1', 'http://127.0.0.1:6333', ''],
  ['https://x.cloud.example', 'https://x.cloud.example:6333', ''],
  ['https://x.cloud.example:443/', 'https://x.cloud.example:443', ''],
  ['http://proxy.example:80/qdrant/', 'http://proxy.example:80', '/qdrant'],
  ['http://[::1]:7000', 'http://[::1]:7000', ''],
])('parses the address %s as %s%s', (url, origin, path) => {
  expect(parseServerAddress(url)).toMatchObject({ origin, path });
});
