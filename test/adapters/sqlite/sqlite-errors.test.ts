import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { COLLECTION_FORMAT, createCollectionFile } from '../../../src/adapters/sqlite/collection-file.ts';
import { openDatabase } from '../../../src/adapters/sqlite/database.ts';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import { createSqliteChunkStore } from '../../../src/adapters/sqlite/sqlite-chunk-store.ts';
import { formatHint } from '../../../src/cli/format-advice.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import type { ChunkStore } from '../../../src/ports/chunk-store.ts';
import { sampleDocument, vectorOf } from '../../contracts/sample-documents.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { withoutPrivileges } from './without-privileges.ts';

const DIMENSIONS = 32;
const IDENTITY = { embedder: 'test:errors', dimensions: DIMENSIONS };

function documentOf(name: string, chunks = 3) {
  return sampleDocument(name, DIMENSIONS, {
    chunks: Array.from({ length: chunks }, (_, index) => `${name} zebra number${index}`),
  });
}

/** A closed collection `book` of 40 documents. */
async function createBook() {
  const directory = await createTemporaryDirectory();
  const catalog = createSqliteCatalog(directory, { busyTimeoutMs: 50 });
  const store = await catalog.openOrCreate('book', IDENTITY);
  await store.write(Array.from({ length: 40 }, (_, index) => documentOf(`d${index}`)));
  await store.close();
  return { directory, catalog, path: join(directory, 'book.sqlite') };
}

function searchBoth(store: ChunkStore) {
  return store.search({ text: 'zebra', vector: vectorOf('zebra', DIMENSIONS), limit: 5, filter: {} });
}

/** The error of a rejected promise, which must be a sentence with a hint. */
async function errorOf(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).hint).toMatch(/\w/);
  expect((error as AppError).message).toMatch(/\.$/);
  return error as AppError;
}

test('reports a file that is not a database and does not change it', async () => {
  const { catalog, path } = await createBook();
  writeFileSync(path, 'This is a letter to my aunt, not a database. '.repeat(100));
  const before = readFileSync(path);
  for (const open of [() => catalog.open('book'), () => catalog.openOrCreate('book', IDENTITY)]) {
    const error = await errorOf(open());
    expect(error).toMatchObject({ kind: 'retrieval_error', message: expect.stringContaining('damaged') });
    expect(formatHint(error)).toContain('collections delete');
  }
  expect(readFileSync(path)).toEqual(before);
});

test('reports a damaged header', async () => {
  const { catalog, path } = await createBook();
  const bytes = readFileSync(path);
  for (const place of [47, 59]) {
    const damaged = Buffer.from(bytes);
    damaged[place] = (damaged[place] ?? 0) ^ 0x5a;
    writeFileSync(path, damaged);
    const error = await errorOf(catalog.open('book'));
    expect(error, `byte ${place}`).toMatchObject({ message: expect.stringContaining('is damaged') });
  }
});

test('a check finds overwritten pages', async () => {
  const { catalog, path } = await createBook();
  const bytes = readFileSync(path);
  for (let offset = 3 * 8192; offset < bytes.length; offset += 8192) bytes.fill(0xa5, offset, offset + 4000);
  writeFileSync(path, bytes);
  const store = (await catalog.open('book')) as ChunkStore;
  onTestFinished(() => store.close());
  const problems = await store.check().catch((error: unknown) => [(error as AppError).message]);
  expect(problems).not.toEqual([]);
  expect(await errorOf(searchBoth(store))).toMatchObject({ kind: 'retrieval_error' });
});

test('reports a truncated file', async () => {
  const { catalog, path } = await createBook();
  writeFileSync(path, readFileSync(path).subarray(0, Math.floor(statSync(path).size / 2)));
  const checked = catalog.open('book').then(async (store) => (store as ChunkStore).check());
  expect(await errorOf(checked)).toMatchObject({ kind: 'retrieval_error' });
});

test.each([
  ['a chunk has no vector', 'DELETE FROM vector WHERE id = 7', /1 chunks have no vector/],
  ['a chunk is missing', 'DELETE FROM chunk WHERE id = 7', /1 vectors belong to no chunk/],
  [
    'a document is missing',
    'PRAGMA foreign_keys = OFF; DELETE FROM document WHERE id = 7',
    /chunks have no document/,
  ],
])('a check reports that %s', async (_, sql, expected) => {
  const { catalog, path } = await createBook();
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  const store = (await catalog.open('book')) as ChunkStore;
  expect((await store.check()).join('\n')).toMatch(expected);
  await store.close();
});

test.each([
  ['a newer', COLLECTION_FORMAT.version + 1, 'Update citeloop'],
  ['an older', 0, 'ingest again'],
])('refuses a collection of %s version and says what to do', async (age, version, hint) => {
  const { catalog, path } = await createBook();
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
  for (const open of [() => catalog.open('book'), () => catalog.openOrCreate('book', IDENTITY)]) {
    const error = await errorOf(open());
    expect(error).toMatchObject({ kind: 'configuration_error', message: expect.stringContaining(age) });
    expect(error.hint).toContain(hint);
  }
});

test('refuses a database of another program and does not change it', async () => {
  const directory = await createTemporaryDirectory();
  const path = join(directory, 'book.sqlite');
  const database = new DatabaseSync(path);
  database.exec('CREATE TABLE bookmark (url TEXT); CREATE TABLE history (url TEXT)');
  database.close();
  const before = readFileSync(path);
  const catalog = createSqliteCatalog(directory);
  for (const open of [() => catalog.open('book'), () => catalog.openOrCreate('book', IDENTITY)]) {
    expect(await errorOf(open())).toMatchObject({
      kind: 'configuration_error',
      message: expect.stringContaining('not a citeloop collection'),
    });
  }
  expect(readFileSync(path)).toEqual(before);
});

test('reports a truncated, empty file, which can be deleted', async () => {
  const { catalog, path } = await createBook();
  writeFileSync(path, '');
  for (const open of [() => catalog.open('book'), () => catalog.openOrCreate('book', IDENTITY)]) {
    const error = await errorOf(open());
    expect(error).toMatchObject({ kind: 'retrieval_error', message: expect.stringContaining(path) });
    expect(formatHint(error)).toContain('collections delete');
  }
  expect(await catalog.list()).toEqual(['book']);
  await catalog.delete('book');
  await (await catalog.openOrCreate('book', IDENTITY)).close();
});

test('reports a full disk and keeps earlier documents', async () => {
  const path = join(await createTemporaryDirectory(), 'book.sqlite');
  createCollectionFile(path, IDENTITY);
  const database = openDatabase(path, 50);
  const store = createSqliteChunkStore(database, 'book', path, () => {});
  onTestFinished(() => store.close());
  await store.write([documentOf('first')]);
  // Simulates a full disk.
  const pages = Number(database.prepare('PRAGMA page_count').get()?.page_count);
  database.exec(`PRAGMA max_page_count = ${pages + 2}`);
  const error = await errorOf(store.write([documentOf('second', 2000)]));
  expect(error).toMatchObject({ kind: 'retrieval_error', recoverable: true });
  expect(error.message).toContain('disk is full');
  expect((await Array.fromAsync(store.documents())).map(({ title }) => title)).toEqual(['first']);
  expect(await searchBoth(store)).toHaveLength(3);
  expect(await store.check()).toEqual([]);
  database.exec('PRAGMA max_page_count = 1000000');
  await store.write([documentOf('second', 2000)]);
  expect(await store.check()).toEqual([]);
});

test('names a data directory that cannot be created', async () => {
  const directory = await createTemporaryDirectory();
  const file = join(directory, 'file');
  writeFileSync(file, '');
  for (const place of [file, join(file, 'below')]) {
    const catalog = createSqliteCatalog(place);
    const error = await errorOf(catalog.openOrCreate('book', IDENTITY));
    expect(error).toMatchObject({ kind: 'configuration_error', message: expect.stringContaining(place) });
    expect(error.hint).toContain('CITELOOP_HOME');
    expect((await errorOf(catalog.list())).kind).toBe('configuration_error');
  }
});

test('reports a directory in place of the file', async () => {
  const directory = await createTemporaryDirectory();
  mkdirSync(join(directory, 'book.sqlite'));
  const error = await errorOf(createSqliteCatalog(directory).open('book'));
  expect(error).toMatchObject({
    kind: 'configuration_error',
    message: expect.stringMatching(/book\.sqlite is a directory/),
  });
});

test('searches a locked collection and reports that it cannot be written', async () => {
  const { catalog, path } = await createBook();
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const store = await catalog.openOrCreate('book', IDENTITY);
  onTestFinished(() => store.close());
  expect(await searchBoth(store)).toHaveLength(5);
  const error = await errorOf(store.write([documentOf('new')]));
  expect(error).toMatchObject({ kind: 'retrieval_error', recoverable: true });
  expect(error.message).toContain('locked');
  other.exec('ROLLBACK');
  await store.write([documentOf('new')]);
  expect(await store.count({})).toBe(123);
});

test('searches a collection in a read-only directory and refuses writes', async () => {
  const { directory, catalog } = await createBook();
  await withoutPrivileges(directory, async () => {
    const store = (await catalog.open('book')) as ChunkStore;
    try {
      expect(await searchBoth(store)).toHaveLength(5);
      expect(await store.info()).toMatchObject({ documents: 40, chunks: 120 });
      expect(await store.check()).toEqual([]);
      for (const change of [store.write([documentOf('new')]), store.remove(['file:///book/d1.md'])]) {
        expect(await errorOf(change)).toMatchObject({
          kind: 'configuration_error',
          message: expect.stringContaining('cannot be written'),
        });
      }
      await store.settle();
    } finally {
      await store.close();
    }
    expect((await errorOf(catalog.openOrCreate('other', IDENTITY))).kind).toBe('configuration_error');
    expect((await errorOf(catalog.delete('book'))).kind).toBe('configuration_error');
    expect(await catalog.list()).toEqual(['book']);
  });
});

test('refuses a read-only copy with pending commits instead of showing old data', async () => {
  const { path } = await createBook();
  const writer = new DatabaseSync(path);
  writer.exec("UPDATE document SET title = 'changed'");
  const directory = await createTemporaryDirectory();
  for (const suffix of ['', '-wal']) cpSync(`${path}${suffix}`, join(directory, `book.sqlite${suffix}`));
  writer.close();
  await withoutPrivileges(directory, async () => {
    const error = await errorOf(createSqliteCatalog(directory).open('book'));
    expect(error).toMatchObject({
      kind: 'configuration_error',
      message: expect.stringContaining('book.sqlite'),
    });
  });
});
