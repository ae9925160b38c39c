import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import type { ChunkStore } from '../../../src/ports/chunk-store.ts';
import { vectorOf } from '../../contracts/sample-documents.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { findSegmentProblems } from './segment-problems.ts';
import { PROCESS_IDENTITY, startWriter } from './start-writer.ts';

/** The chunks of each document, by its title. */
async function contentsOf(store: ChunkStore): Promise<Map<string, string[]>> {
  const hits = await store.search({
    text: null,
    vector: vectorOf('any', PROCESS_IDENTITY.dimensions),
    limit: 100_000,
    filter: {},
  });
  return Map.groupBy(
    hits.map(({ chunk }) => chunk).sort((a, b) => a.chunkIndex - b.chunkIndex),
    ({ title }) => title,
  )
    .entries()
    .reduce(
      (all, [title, chunks]) =>
        all.set(
          title,
          chunks.map(({ text }) => text),
        ),
      new Map<string, string[]>(),
    );
}

function versionOf(text: string | undefined): number {
  return Number(/version(\d+)/.exec(text ?? '')?.[1] ?? -1);
}

test('a killed process loses no acknowledged document and leaves none incomplete', async () => {
  const directory = await createTemporaryDirectory();
  const catalog = createSqliteCatalog(directory);
  for (let round = 0; round < 6; round += 1) {
    const name = `round${round}`;
    const writer = startWriter({ directory, name, documents: 100_000, startAt: 0, rewrite: 15 });
    while (writer.acknowledged.length === 0) await setTimeout(5);
    await setTimeout(Math.random() * 250);
    writer.child.kill('SIGKILL');
    expect((await writer.ended).signal).toBe('SIGKILL');

    const store = (await catalog.open('book')) as ChunkStore;
    expect(await store.check()).toEqual([]);
    expect(findSegmentProblems(join(directory, 'book.sqlite'), PROCESS_IDENTITY.dimensions)).toEqual([]);
    const contents = await contentsOf(store);
    const newest = new Map(writer.acknowledged.map((number) => [number % 15, number]));
    for (const [place, number] of newest) {
      const texts = contents.get(`${name}-${place}`) ?? [];
      const version = versionOf(texts[0]);
      // One more than was acknowledged may have been committed.
      expect([number, number + 15]).toContain(version);
      expect(texts).toEqual(
        Array.from({ length: 4 + (version % 3) }, (_, i) => `${name} version${version} part${i}`),
      );
    }
    await store.close();
  }
});

test('several processes create a collection and write to it at once', async () => {
  const directory = await createTemporaryDirectory();
  const startAt = Date.now() + 400;
  const names = ['left', 'right', 'third'];
  const writers = names.map((name) => startWriter({ directory, name, documents: 40, startAt }));
  for (const { ended } of writers) expect(await ended).toEqual({ code: 0, signal: null, errors: '' });
  const store = (await createSqliteCatalog(directory).open('book')) as ChunkStore;
  expect((await store.info()).documents).toBe(names.length * 40);
  const contents = await contentsOf(store);
  for (const name of names) {
    for (let number = 0; number < 40; number += 1) {
      expect(contents.get(`${name}-${number}`)).toHaveLength(4 + (number % 3));
    }
  }
  expect(await store.check()).toEqual([]);
  expect(findSegmentProblems(join(directory, 'book.sqlite'), PROCESS_IDENTITY.dimensions)).toEqual([]);
  await store.close();
});

test('a collection that another process is creating is missing or complete', async () => {
  const parent = await createTemporaryDirectory();
  for (let round = 0; round < 6; round += 1) {
    const directory = join(parent, `round${round}`);
    const catalog = createSqliteCatalog(directory);
    const writer = startWriter({ directory, name: 'first', documents: 1, startAt: 0 });
    while (writer.acknowledged.length === 0) {
      const store = await catalog.open('book');
      if (store !== null) expect(store.identity).toEqual(PROCESS_IDENTITY);
      await store?.close();
      await new Promise(setImmediate);
    }
    expect(await writer.ended).toEqual({ code: 0, signal: null, errors: '' });
  }
});

test('an open collection shows whole documents that another process writes', async () => {
  const directory = await createTemporaryDirectory();
  const reader = await createSqliteCatalog(directory).openOrCreate('book', PROCESS_IDENTITY);
  expect((await contentsOf(reader)).size).toBe(0);
  const writer = startWriter({ directory, name: 'other', documents: 400, startAt: 0, rewrite: 8 });
  let ended = false;
  void writer.ended.then(() => {
    ended = true;
  });
  while (!ended) {
    const acknowledged = writer.acknowledged.at(-1) ?? -1;
    const contents = await contentsOf(reader);
    const versions = [...contents.values()].map(([first]) => versionOf(first));
    expect(Math.max(-1, ...versions)).toBeGreaterThanOrEqual(acknowledged);
    for (const texts of contents.values()) {
      expect(texts).toHaveLength(4 + (versionOf(texts[0]) % 3));
      expect(new Set(texts.map(versionOf)).size).toBe(1);
    }
    await setTimeout(5);
  }
  expect((await contentsOf(reader)).size).toBe(8);
  expect(await reader.check()).toEqual([]);
  expect(findSegmentProblems(join(directory, 'book.sqlite'), PROCESS_IDENTITY.dimensions)).toEqual([]);
  await reader.close();
});
