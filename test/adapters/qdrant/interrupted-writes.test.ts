import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { QdrantClient } from '@qdrant/js-client-rest';
import { describe, expect, onTestFinished, test } from 'vitest';
import { updateVectors } from '../../../src/adapters/qdrant/point-requests.ts';
import { createQdrantCatalog } from '../../../src/adapters/qdrant/qdrant-catalog.ts';
import { createQdrantConnection } from '../../../src/adapters/qdrant/qdrant-connection.ts';
import { systemRuntime } from '../../../src/app/system-runtime.ts';
import type { ChunkStore } from '../../../src/ports/chunk-store.ts';
import { endWithParent } from '../../support/end-with-parent.ts';
import { getTestQdrant, type QdrantServer } from '../../support/qdrant-server.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { versionOf, WRITER_IDENTITY } from './writer-task.ts';

const server = (await getTestQdrant()) as QdrantServer;
const TWO_HOURS_MS = 7_200_000;

/** A collection `book` in which the documents `a` and `b` have version 1. */
async function createBook() {
  const { url, apiKey } = server;
  const collectionPrefix = `test_${randomUUID().slice(0, 8)}_`;
  const catalog = createQdrantCatalog({ url, apiKey, collectionPrefix });
  const store = await catalog.openOrCreate('book', WRITER_IDENTITY);
  onTestFinished(async () => void (await catalog.delete('book')));
  await store.write([versionOf('a', 1), versionOf('b', 1)]);
  return { collectionPrefix, store };
}

/** The version of each document; fails unless searches find exactly the chunks of that version. */
async function versionsIn(store: ChunkStore): Promise<Record<string, number>> {
  const text = 'part0 part1 part2 part3 part4 part5 part6';
  const hits = await store.search({ text, vector: null, limit: 100, filter: {} });
  const versions: Record<string, number> = {};
  for await (const { uri, title } of store.documents()) {
    const name = /(\w+)\.md$/.exec(uri)?.[1] ?? '';
    const version = Number(title.replace('version', ''));
    const expected = versionOf(name, version).chunks;
    const texts = hits.map(({ chunk }) => chunk.text).filter((found) => found.startsWith(`${name} `));
    expect(texts.sort()).toEqual(expected.map((chunk) => chunk.text).sort());
    const read = await store.chunks(expected.map(({ chunkId }) => chunkId));
    expect(read.map((chunk) => chunk.text)).toEqual(expected.map((chunk) => chunk.text));
    versions[name] = version;
  }
  return versions;
}

/** Settles as an ingest two hours later would, and returns the number of points that readers do not see. */
async function leftoversAfterSettling(collectionPrefix: string): Promise<number> {
  const { url, apiKey } = server;
  const runtime = { ...systemRuntime, now: () => new Date(Date.now() + TWO_HOURS_MS) };
  const later = createQdrantCatalog({ url, apiKey, collectionPrefix, runtime });
  const store = (await later.open('book')) as ChunkStore;
  await store.settle();
  expect(await store.check()).toEqual([]);
  const client = new QdrantClient({ url, checkCompatibility: false, ...(apiKey && { apiKey }) });
  const { count } = await client.count(`${collectionPrefix}book`, { exact: true });
  return count - (await store.info()).chunks;
}

function startWriter(task: { name: string; versions: number; collectionPrefix: string }) {
  const { url, apiKey } = server;
  const script = join(import.meta.dirname, 'writer-process.ts');
  const child = endWithParent(
    spawn(process.execPath, [script, JSON.stringify({ url, apiKey, ...task })], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  let acknowledged = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    acknowledged = Number(text.trim().split('\n').at(-1));
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, ended, acknowledged: () => acknowledged };
}

describe.skipIf(server === null)('interrupted writes', () => {
  test('leave each document whole wherever they are cut off, and the next ingest repairs the rest', async () => {
    const replace = (store: ChunkStore) => store.write([versionOf('a', 2), versionOf('b', 2)]);
    /** Cuts the connection after so many requests of a write; null lets all through. */
    async function writeCutAfter(requests: number | null) {
      const { collectionPrefix, store } = await createBook();
      const proxy = await startCuttingProxy(server.url);
      const { apiKey } = server;
      const cut = createQdrantCatalog({ url: proxy.url, apiKey, collectionPrefix });
      const cutStore = (await cut.open('book')) as ChunkStore;
      const before = proxy.requests();
      if (requests !== null) proxy.cutAfter(requests);
      const acknowledged = await replace(cutStore).then(
        () => true,
        () => false,
      );
      const versions = await versionsIn(store);
      if (acknowledged) expect(versions).toEqual({ a: 2, b: 2 });
      return { collectionPrefix, store, acknowledged, versions, sent: proxy.requests() - before };
    }
    const whole = await writeCutAfter(null);
    expect(whole).toMatchObject({ acknowledged: true, versions: { a: 2, b: 2 } });
    expect(await leftoversAfterSettling(whole.collectionPrefix)).toBe(0);
    const outcomes = await Promise.all(
      Array.from({ length: whole.sent }, async (_, requests) => {
        const { store, versions, collectionPrefix } = await writeCutAfter(requests);
        expect(await leftoversAfterSettling(collectionPrefix)).toBe(0);
        expect(await versionsIn(store)).toEqual(versions);
        await replace(store);
        expect(await versionsIn(store)).toEqual({ a: 2, b: 2 });
        return versions.a;
      }),
    );
    expect(new Set(outcomes)).toEqual(new Set([1, 2]));
  });

  test('of a killed process lose nothing that was acknowledged', async () => {
    const { collectionPrefix, store } = await createBook();
    for (let round = 0; round < 3; round += 1) {
      const writer = startWriter({ name: 'a', versions: 1000, collectionPrefix });
      while (writer.acknowledged() < 5) await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise((resolve) => setTimeout(resolve, round * 7));
      writer.child.kill('SIGKILL');
      await writer.ended;
      const { a = 0 } = await versionsIn(store);
      expect([writer.acknowledged(), writer.acknowledged() + 1]).toContain(a);
      await store.write([versionOf('b', round + 2)]);
      expect(await versionsIn(store)).toEqual({ a, b: round + 2 });
      expect(await leftoversAfterSettling(collectionPrefix)).toBe(0);
    }
  });

  test('keep points that another process may still be writing', async () => {
    const { collectionPrefix, store } = await createBook();
    const { url, apiKey } = server;
    const client = new QdrantClient({ url, checkCompatibility: false, ...(apiKey && { apiKey }) });
    await client.delete(`${collectionPrefix}book__documents`, {
      filter: { must: [{ key: 'uri', match: { value: 'file:///book/a.md' } }] },
      wait: true,
    });
    expect(await versionsIn(store)).toEqual({ b: 1 });
    await store.settle();
    expect(await store.count({})).toBeGreaterThan((await store.info()).chunks);
    expect(await leftoversAfterSettling(collectionPrefix)).toBe(0);
    expect(await versionsIn(store)).toEqual({ b: 1 });
  });
});

test.skipIf(server === null)('reports an update of points that another process deleted', async () => {
  const { collectionPrefix } = await createBook();
  const connection = createQdrantConnection({ url: server.url, apiKey: server.apiKey });
  const collection = { connection, name: 'book', collection: `${collectionPrefix}book` };
  const missing = { id: randomUUID(), vector: { dense: Array(8).fill(1) } };
  expect(await updateVectors(collection, [missing])).toBe(false);
});

test.skipIf(server === null)('several processes can write at the same time', async () => {
  const { collectionPrefix, store } = await createBook();
  const writers = ['a', 'b', 'c'].map((name) => startWriter({ name, versions: 8, collectionPrefix }));
  expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  expect(await versionsIn(store)).toEqual({ a: 8, b: 8, c: 8 });
  expect(await leftoversAfterSettling(collectionPrefix)).toBe(0);
});
