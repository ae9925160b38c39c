import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/adapters/sqlite/database.ts';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import type { ChunkStore } from '../../../src/ports/chunk-store.ts';
import { sampleDocument, vectorOf } from '../../contracts/sample-documents.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import type { WriterTask } from './start-writer.ts';

const IDENTITY = { embedder: 'test:content', dimensions: 32 };
const PUMPS = sampleDocument('pumps', 32, { chunks: ['The pump runs at forty bar.', 'It is red.'] });
const OWLS = sampleDocument('owls', 32, { chunks: ['Owls hunt at night.'] });

/** A closed collection `book` of two documents. */
async function createBook() {
  const directory = await createTemporaryDirectory();
  const catalog = createSqliteCatalog(directory);
  const store = await catalog.openOrCreate('book', IDENTITY);
  await store.write([PUMPS, OWLS]);
  await store.close();
  return { directory, catalog, path: join(directory, 'book.sqlite') };
}

/** Changes the file with SQL and opens it. */
async function openEdited(sql: string): Promise<ChunkStore> {
  const { catalog, path } = await createBook();
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  const store = (await catalog.open('book')) as ChunkStore;
  onTestFinished(() => store.close());
  return store;
}

test.each([
  ['text', "UPDATE chunk SET text = replace(text, 'forty', 'fifty')"],
  [
    'headings',
    `UPDATE chunk SET headings = '["x' WHERE chunk_index = 0 AND text LIKE 'The pump%'; UPDATE chunk SET text = text || '.'`,
  ],
])('a changed %s is an error that names the document, never a result', async (_, sql) => {
  const store = await openEdited(sql);
  const [first] = PUMPS.chunks;
  const changed = { kind: 'retrieval_error', hint: expect.stringContaining('again') };
  for (const read of [
    store.search({ text: 'pump', vector: null, limit: 5, filter: {} }),
    store.chunks([first?.chunkId ?? '']),
    store.neighbours(first?.chunkId ?? '', 0, 1),
    store.read([PUMPS.document.uri]),
  ]) {
    await expect(read).rejects.toMatchObject(changed);
  }
  expect(await store.damaged?.()).toContain(PUMPS.document.uri);
});

test.each([
  ['an address', "UPDATE document SET url = 'https://evil.example/' WHERE title = 'pumps'"],
  ['a location', "UPDATE chunk SET location = 'line 7 8' WHERE text LIKE 'The pump%'"],
  ['a vector', "UPDATE vector SET v = x'00' || substr(v, 2) WHERE id = 1"],
])('a check names the document after a change of %s, and writing it again repairs it', async (_, sql) => {
  const store = await openEdited(sql);
  expect(await store.damaged?.()).toEqual([PUMPS.document.uri]);
  await store.write([PUMPS]);
  expect([await store.check(), await store.damaged?.()]).toEqual([[], []]);
});

test('a damaged vector is not used again for the same content', async () => {
  const store = await openEdited("UPDATE vector SET v = x'00' || substr(v, 2) WHERE id = 1");
  const hashes = PUMPS.chunks.map(({ contentHash }) => contentHash);
  expect([...(await store.vectors(hashes)).keys()]).toEqual(hashes.slice(1));
});

test('a check notices every flipped byte that changes what is stored', async () => {
  const { catalog, path } = await createBook();
  const bytes = readFileSync(path);
  const dump = () => {
    const database = new DatabaseSync(path);
    try {
      const tables = [
        'meta',
        'document',
        'chunk',
        'vector',
        'segment',
        'segment_meta',
        'text_segment',
        'posting',
      ];
      return JSON.stringify(tables.map((table) => database.prepare(`SELECT * FROM ${table}`).all()));
    } finally {
      database.close();
    }
  };
  const before = dump();
  let noticed = 0;
  // The first page has the schema.
  for (let position = 8192; position < bytes.length; position += 1 + (position % 37)) {
    // Most of a small file is unused.
    if (bytes[position] === 0) continue;
    const damaged = Buffer.from(bytes);
    damaged[position] = (damaged[position] ?? 0) ^ (1 << (position % 8));
    writeFileSync(path, damaged);
    let problems: string[];
    try {
      const store = (await catalog.open('book')) as ChunkStore;
      problems = await store
        .check()
        .then(async (found) => [...found, ...((await store.damaged?.()) ?? [])])
        .finally(() => store.close());
    } catch (error) {
      expect(error, `byte ${position}`).toMatchObject({ name: 'AppError' });
      problems = ['error'];
    }
    if (problems.length === 0) expect(dump() === before, `byte ${position}`).toBe(true);
    else noticed += 1;
  }
  expect(noticed).toBeGreaterThan(100);
});

test('a commit waits until it is on the disk', async ({ skip }) => {
  const { directory, path } = await createBook();
  const database = openDatabase(path, 50);
  expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
  database.close();
  const script = join(import.meta.dirname, 'writer-process.ts');
  const task: WriterTask = { directory, name: 'w', documents: 5, startAt: 0 };
  await createSqliteCatalog(directory).delete('book');
  const { stderr, error } = spawnSync(
    'strace',
    [
      '-f',
      '-e',
      'trace=write,fdatasync,fsync',
      '-e',
      'signal=none',
      process.execPath,
      script,
      JSON.stringify(task),
    ],
    { encoding: 'utf8' },
  );
  if (error !== undefined || !stderr.includes('write(')) return skip();
  // The calls between two acknowledgements.
  const steps = stderr.split(/write\(1, "\d\\n"/).slice(0, 5);
  expect(steps).toHaveLength(5);
  for (const step of steps) expect(step).toMatch(/f(?:data)?sync\(/);
});

test('the vectors of unchanged documents still find them', async () => {
  const store = await openEdited("UPDATE chunk SET text = replace(text, 'forty', 'fifty')");
  const hits = await store.search({
    text: null,
    vector: vectorOf('Owls hunt at night.', 32),
    limit: 1,
    filter: {},
  });
  expect(hits.map(({ chunk }) => chunk.text)).toEqual(['Owls hunt at night.']);
});
