import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { QdrantClient } from '@qdrant/js-client-rest';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createQdrantCatalog } from '../../../src/adapters/qdrant/qdrant-catalog.ts';
import { systemRuntime } from '../../../src/app/system-runtime.ts';
import type { ChunkStore } from '../../../src/ports/chunk-store.ts';
import type { Runtime } from '../../../src/ports/runtime.ts';
import { endWithParent } from '../../support/end-with-parent.ts';
import { type QdrantServer, serverForTests } from '../../support/qdrant-server.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { versionOf, WRITER_IDENTITY } from './writer-task.ts';

const server = (await serverForTests()) as QdrantServer;

/** A catalog on the server with a collection `book` in which `a` and `b` have version 1. */
async function library(clock: Partial<Pick<Runtime, 'now' | 'sleep'>> = {}) {
  const { url, apiKey } = server;
  const collectionPrefix = `test_${randomUUID().slice(0, 8)}_`;
  const runtime = { ...systemRuntime, ...clock };
  const catalog = createQdrantCatalog({ url, apiKey, collectionPrefix, runtime });
  const store = await catalog.openOrCreate('book', WRITER_IDENTITY);
  onTestFinished(async () => void (await catalog.delete('book')));
  await store.write([versionOf('a', 1), versionOf('b', 1)]);
  return { collectionPrefix, catalog, store };
}

/** A clock that is put forward by whoever would wait. */
function clockOfTheWaiting(): Pick<Runtime, 'now' | 'sleep'> {
  let ahead = 0;
  return {
    now: () => new Date(Date.now() + ahead),
    async sleep(ms) {
      ahead += ms;
    },
  };
}

/** The version of each document, each of which must be whole. */
async function versionsIn(store: ChunkStore): Promise<Record<string, number>> {
  const text = 'part0 part1 part2 part3 part4 part5 part6';
  const hits = await store.search({ text, vector: null, limit: 100, filter: {} });
  const versions: Record<string, number> = {};
  for await (const { uri, title } of store.documents()) {
    const name = /(\w+)\.md$/.exec(uri)?.[1] ?? '';
    const version = Number(title.replace('version', ''));
    const texts = hits.map(({ chunk }) => chunk.text).filter((text) => text.startsWith(`${name} `));
    const expected = versionOf(name, version).chunks.map(({ text }) => text);
    expect(texts.sort()).toEqual(expected.sort());
    versions[name] = version;
  }
  return versions;
}

/** How many points there are that no reader sees. */
async function leftOver(store: ChunkStore, collectionPrefix: string): Promise<number> {
  const { url, apiKey } = server;
  const client = new QdrantClient({ url, checkCompatibility: false, ...(apiKey && { apiKey }) });
  const { count } = await client.count(`${collectionPrefix}book`, { exact: true });
  return count - (await store.count({}));
}

/** One that a writer on another machine has the lease of, whose clock is an hour ahead. */
async function libraryOfAnother({ isAlive }: { isAlive: boolean }) {
  const { url, apiKey } = server;
  const { collectionPrefix } = await library();
  const client = new QdrantClient({ url, checkCompatibility: false, ...(apiKey && { apiKey }) });
  const start = Date.now();
  let waitedMs = 0;
  let leases = 0;
  async function lease(): Promise<void> {
    await client.setPayload(`${collectionPrefix}book__documents`, {
      payload: { writer: 'elsewhere 1 x', leaseUntil: start + 3_600_000 + leases++ },
      points: ['00000000-0000-0000-0000-000000000000'],
      wait: true,
    });
  }
  /** Whoever waits wakes up late and so looks seldom; meanwhile the other goes on, if it is still there. */
  const clock: Pick<Runtime, 'now' | 'sleep'> = {
    now: () => new Date(start + waitedMs),
    async sleep(ms) {
      waitedMs += Math.max(ms, 2000);
      if (isAlive) await lease();
    },
  };
  await lease();
  const runtime = { ...systemRuntime, ...clock };
  const catalog = createQdrantCatalog({ url, apiKey, collectionPrefix, runtime });
  const store = (await catalog.open('book')) as ChunkStore;
  return { store, waited: () => waitedMs / 1000, leases: () => leases };
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

describe.skipIf(server === null)('writes that are interrupted', () => {
  test('leave the old documents or the new ones wherever they are cut off, and are tidied up by the next', async () => {
    const replace = (store: ChunkStore) => store.write([versionOf('a', 2), versionOf('b', 2)]);
    /** Cuts the way to the server after so many requests of a write; null lets it through. */
    async function writeCutAfter(requests: number | null) {
      const { collectionPrefix, catalog, store } = await library(clockOfTheWaiting());
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
      expect(versions).toEqual(acknowledged || versions.a === 2 ? { a: 2, b: 2 } : { a: 1, b: 1 });
      return { collectionPrefix, catalog, store, acknowledged, versions, asked: proxy.requests() - before };
    }
    const whole = await writeCutAfter(null);
    expect(whole).toMatchObject({ acknowledged: true, versions: { a: 2, b: 2 } });
    expect(await leftOver(whole.store, whole.collectionPrefix)).toBe(0);
    // The writers that were cut off seem to be alive, so the next one waits until their time is over.
    const outcomes = await Promise.all(
      Array.from({ length: whole.asked }, async (_, requests) => {
        const { store, versions, collectionPrefix } = await writeCutAfter(requests);
        await store.write([versionOf('c', 1)]);
        expect(await versionsIn(store)).toEqual({ ...versions, c: 1 });
        expect(await leftOver(store, collectionPrefix)).toBe(0);
        expect(await store.check()).toEqual([]);
        return versions.a;
      }),
    );
    expect(new Set(outcomes)).toEqual(new Set([1, 2]));
  });

  test('by a process that is killed lose nothing that was acknowledged, and keep nobody waiting', async () => {
    const sleep = vi.fn(async () => undefined);
    const { collectionPrefix, store } = await library({ sleep });
    for (let round = 0; round < 3; round += 1) {
      const writer = startWriter({ name: 'a', versions: 1000, collectionPrefix });
      while (writer.acknowledged() < 5) await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise((resolve) => setTimeout(resolve, round * 7));
      writer.child.kill('SIGKILL');
      await writer.ended;
      const { a = 0 } = await versionsIn(store);
      expect([writer.acknowledged(), writer.acknowledged() + 1]).toContain(a);
      await store.write([versionOf('b', round + 2)]);
      expect(sleep).not.toHaveBeenCalled();
      expect(await versionsIn(store)).toEqual({ a, b: round + 2 });
      await store.settle();
      expect(await leftOver(store, collectionPrefix)).toBe(0);
      expect(await store.check()).toEqual([]);
    }
  });

  test('of several processes at once take turns', async () => {
    const { collectionPrefix, store } = await library();
    const writers = ['a', 'b', 'c'].map((name) => startWriter({ name, versions: 8, collectionPrefix }));
    let done = false;
    const ended = Promise.all(writers.map((writer) => writer.ended)).finally(() => {
      done = true;
    });
    while (!done) {
      await store.count({});
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await ended).toEqual([0, 0, 0]);
    expect(await versionsIn(store)).toEqual({ a: 8, b: 8, c: 8 });
    expect(await leftOver(store, collectionPrefix)).toBe(0);
    expect(await store.check()).toEqual([]);
  });

  test('by a writer that is gone and whose clock was far ahead keep others waiting for one lease, not for the difference', async () => {
    const { store, waited } = await libraryOfAnother({ isAlive: false });
    await store.write([versionOf('c', 1)]);
    expect(waited()).toBeGreaterThan(20);
    expect(waited()).toBeLessThan(60);
    expect(await versionsIn(store)).toEqual({ a: 1, b: 1, c: 1 });
    expect(await store.check()).toEqual([]);
  });

  test('by a writer whose clock is far ahead are waited for as long as it renews its lease', async () => {
    const { store, waited, leases } = await libraryOfAnother({ isAlive: true });
    await expect(store.write([versionOf('c', 1)])).rejects.toMatchObject({
      kind: 'retrieval_error',
      message: expect.stringContaining('kept writing'),
    });
    expect(waited()).toBeGreaterThan(60);
    expect(leases()).toBeGreaterThan(2);
    expect(await versionsIn(store)).toEqual({ a: 1, b: 1 });
  });
});
