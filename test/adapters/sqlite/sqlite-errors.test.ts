import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { COLLECTION_FORMAT, createCollectionFile } from '../../../src/adapters/sqlite/collection-file.ts';
import { openDatabase } from '../../../src/adapters/sqlite/database.ts';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import { createSqliteChunkStore } from '../../../src/adapters/sqlite/sqlite-chunk-store.ts';
import { commandLineHint } from '../../../src/cli/advice.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import type { ChunkStore } from '../../../src/ports/chunk-store.ts';
import { sampleDocument, vectorOf } from '../../contracts/sample-documents.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { withoutPrivileges } from './without-privileges.ts';

const DIMENSIONS = 32;
const IDENTITY = { embedder: 'test:faults', dimensions: DIMENSIONS };

function documentOf(name: string, chunks = 3) {
  return sampleDocument(name, DIMENSIONS, {
    chunks: Array.from({ length: chunks }, (_, index) => `${name} zebra number${index}`),
  });
}

/** A directory with a collection `book` of 40 documents, closed. */
async function library() {
  const directory = await temporaryDirectory();
  const catalog = createSqliteCatalog(directory, { busyTimeoutMs: 50 });
  const store = await catalog.openOrCreate('book', IDENTITY);
  await store.write(Array.from({ length: 40 }, (_, index) => documentOf(`d${index}`)));
  await store.close();
  return { directory, catalog, path: join(directory, 'book.sqlite') };
}

function searchBoth(store: ChunkStore) {
  return store.search({ text: 'zebra', vector: vectorOf('zebra', DIMENSIONS), limit: 5, filter: {} });
}

/** What it fails with: always a sentence, with a hint. */
async function faultOf(work: Promise<unknown>): Promise<AppError> {
  const fault = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(fault).toBeInstanceOf(AppError);
  expect((fault as AppError).hint).toMatch(/\w/);
  expect((fault as AppError).message).toMatch(/\.$/);
  return fault as AppError;
}

test('a file that is no database is said to be damaged, and stays as it is', async () => {
  const { catalog, path } = await library();
  writeFileSync(path, 'This is a letter to my aunt, not a database. '.repeat(100));
  const before = readFileSync(path);
  for (const open of [() => catalog.open('book'), () => catalog.openOrCreate('book', IDENTITY)]) {
    const fault = await faultOf(open());
    expect(fault).toMatchObject({ kind: 'retrieval_error', message: expect.stringContaining('damaged') });
    expect(commandLineHint(fault)).toContain('collections delete');
  }
  expect(readFileSync(path)).toEqual(before);
});

test('a damaged header is told as one', async () => {
  const { catalog, path } = await library();
  const bytes = readFileSync(path);
  for (const place of [19, 47, 59]) {
    const damaged = Buffer.from(bytes);
    damaged[place] = (damaged[place] ?? 0) ^ 0x5a;
    writeFileSync(path, damaged);
    const fault = await faultOf(catalog.open('book'));
    expect(fault, `byte ${place}`).toMatchObject({ message: expect.stringContaining('is damaged') });
  }
});

test('a file with overwritten pages is found damaged by a check', async () => {
  const { catalog, path } = await library();
  const bytes = readFileSync(path);
  for (let offset = 3 * 8192; offset < bytes.length; offset += 8192) bytes.fill(0xa5, offset, offset + 4000);
  writeFileSync(path, bytes);
  const store = (await catalog.open('book')) as ChunkStore;
  onTestFinished(() => store.close());
  const problems = await store.check().catch((error: unknown) => [(error as AppError).message]);
  expect(problems).not.toEqual([]);
  expect(await faultOf(searchBoth(store))).toMatchObject({ kind: 'retrieval_error' });
});

test('a file that ends in the middle is found damaged', async () => {
  const { catalog, path } = await library();
  writeFileSync(path, readFileSync(path).subarray(0, Math.floor(statSync(path).size / 2)));
  const checked = catalog.open('book').then(async (store) => (store as ChunkStore).check());
  expect(await faultOf(checked)).toMatchObject({ kind: 'retrieval_error' });
});

test.each([
  ['a chunk has no vector', 'DELETE FROM vector WHERE id = 7', /1 chunks have no vector/],
  [
    'words are missing',
    'DELETE FROM posting WHERE term = (SELECT min(term) FROM posting)',
    /text segment \d+ is inconsistent/,
  ],
  ['a segment of vectors is missing', 'DELETE FROM segment_meta', /in no vector segment/],
  ['a segment of words is missing', 'DELETE FROM text_segment', /in no text segment/],
  ['packed vectors are cut', 'UPDATE segment SET q = substr(q, 2)', /vector segment \d+ is inconsistent/],
  [
    'a chunk is missing',
    'DELETE FROM chunk WHERE id = 7',
    /1 vectors belong to no chunk.*in vector segments were removed.*in text segments were removed/s,
  ],
  [
    'a document is missing',
    'PRAGMA foreign_keys = OFF; DELETE FROM document WHERE id = 7',
    /chunks have no document/,
  ],
])('a check says what is wrong when %s', async (_, sql, expected) => {
  const { catalog, path } = await library();
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
])('a collection of %s version is refused with what to do', async (age, version, hint) => {
  const { catalog, path } = await library();
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
  for (const open of [() => catalog.open('book'), () => catalog.openOrCreate('book', IDENTITY)]) {
    const fault = await faultOf(open());
    expect(fault).toMatchObject({ kind: 'configuration_error', message: expect.stringContaining(age) });
    expect(fault.hint).toContain(hint);
  }
});

test('a database of another program is refused and not touched', async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, 'book.sqlite');
  const database = new DatabaseSync(path);
  database.exec('CREATE TABLE bookmark (url TEXT); CREATE TABLE history (url TEXT)');
  database.close();
  const before = readFileSync(path);
  const catalog = createSqliteCatalog(directory);
  for (const open of [() => catalog.open('book'), () => catalog.openOrCreate('book', IDENTITY)]) {
    expect(await faultOf(open())).toMatchObject({
      kind: 'configuration_error',
      message: expect.stringContaining('not a citeloop collection'),
    });
  }
  expect(readFileSync(path)).toEqual(before);
});

test('an empty file, as a killed process may leave it, is no collection yet and can become one', async () => {
  const directory = await temporaryDirectory();
  writeFileSync(join(directory, 'book.sqlite'), '');
  const catalog = createSqliteCatalog(directory);
  expect(await catalog.open('book')).toBeNull();
  const store = await catalog.openOrCreate('book', IDENTITY);
  await store.write([documentOf('a')]);
  expect(await store.check()).toEqual([]);
  await store.close();
});

test('a full disk is said to be one, and what was there before stays', async () => {
  const path = join(await temporaryDirectory(), 'book.sqlite');
  const database = openDatabase(path, 50);
  createCollectionFile(database, path, IDENTITY, 50);
  const store = createSqliteChunkStore(database, 'book', path);
  onTestFinished(() => store.close());
  await store.write([documentOf('first')]);
  // Stands for a disk with no more room than the file has taken.
  const pages = Number(database.prepare('PRAGMA page_count').get()?.page_count);
  database.exec(`PRAGMA max_page_count = ${pages + 2}`);
  const fault = await faultOf(store.write([documentOf('second', 2000)]));
  expect(fault).toMatchObject({ kind: 'retrieval_error', recoverable: true });
  expect(fault.message).toContain('disk is full');
  expect((await Array.fromAsync(store.documents())).map(({ title }) => title)).toEqual(['first']);
  expect(await searchBoth(store)).toHaveLength(3);
  expect(await store.check()).toEqual([]);
  database.exec('PRAGMA max_page_count = 1000000');
  await store.write([documentOf('second', 2000)]);
  expect(await store.check()).toEqual([]);
});

test('a data directory that cannot be made is named', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, 'file');
  writeFileSync(file, '');
  for (const place of [file, join(file, 'below')]) {
    const catalog = createSqliteCatalog(place);
    const fault = await faultOf(catalog.openOrCreate('book', IDENTITY));
    expect(fault).toMatchObject({ kind: 'configuration_error', message: expect.stringContaining(place) });
    expect(fault.hint).toContain('CITELOOP_HOME');
    expect((await faultOf(catalog.list())).kind).toBe('configuration_error');
  }
});

test('a directory in the place of the file cannot be opened', async () => {
  const directory = await temporaryDirectory();
  mkdirSync(join(directory, 'book.sqlite'));
  const fault = await faultOf(createSqliteCatalog(directory).open('book'));
  expect(fault.message).toContain('book.sqlite');
});

test('a collection that another process keeps locked can be searched but not written', async () => {
  const { catalog, path } = await library();
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const store = await catalog.openOrCreate('book', IDENTITY);
  onTestFinished(() => store.close());
  expect(await searchBoth(store)).toHaveLength(5);
  const fault = await faultOf(store.write([documentOf('new')]));
  expect(fault).toMatchObject({ kind: 'retrieval_error', recoverable: true });
  expect(fault.message).toContain('locked');
  other.exec('ROLLBACK');
  await store.write([documentOf('new')]);
  expect(await store.count({})).toBe(123);
});

test('making a collection that another process keeps locked says so', async () => {
  const directory = await temporaryDirectory();
  const other = new DatabaseSync(join(directory, 'book.sqlite'));
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const catalog = createSqliteCatalog(directory, { busyTimeoutMs: 50 });
  expect((await faultOf(catalog.openOrCreate('book', IDENTITY))).message).toContain('locked');
});

test('a collection in a place that may only be read can be searched, and writing is refused', async () => {
  const { directory, catalog } = await library();
  await withoutPrivileges(directory, async () => {
    const store = (await catalog.open('book')) as ChunkStore;
    try {
      expect(await searchBoth(store)).toHaveLength(5);
      expect(await store.info()).toMatchObject({ documents: 40, chunks: 120 });
      expect(await store.check()).toEqual([]);
      for (const change of [store.write([documentOf('new')]), store.remove(['file:///book/d1.md'])]) {
        expect(await faultOf(change)).toMatchObject({
          kind: 'configuration_error',
          message: expect.stringContaining('cannot be written'),
        });
      }
      await store.settle();
    } finally {
      await store.close();
    }
    expect((await faultOf(catalog.openOrCreate('other', IDENTITY))).kind).toBe('configuration_error');
    expect((await faultOf(catalog.delete('book'))).kind).toBe('configuration_error');
    expect(await catalog.list()).toEqual(['book']);
  });
});

test('where commits wait that may not be carried over, that is said rather than old data shown', async () => {
  const { path } = await library();
  const writer = new DatabaseSync(path);
  writer.exec("UPDATE document SET title = 'changed'");
  const directory = await temporaryDirectory();
  for (const suffix of ['', '-wal']) cpSync(`${path}${suffix}`, join(directory, `book.sqlite${suffix}`));
  writer.close();
  await withoutPrivileges(directory, async () => {
    const fault = await faultOf(createSqliteCatalog(directory).open('book'));
    expect(fault).toMatchObject({
      kind: 'configuration_error',
      message: expect.stringContaining('book.sqlite'),
    });
  });
});
