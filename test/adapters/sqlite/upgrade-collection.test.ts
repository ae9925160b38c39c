import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import type { ChunkRecord } from '../../../src/ports/chunk-store.ts';
import { sampleDocument } from '../../contracts/sample-documents.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const IDENTITY = { embedder: 'test:eight', dimensions: 8 };

/** The tables that format 1 had instead of text segments. */
const FIRST_FORMAT = `
  DROP TABLE unembedded; DROP TABLE text_segment; DROP TABLE posting; ALTER TABLE chunk DROP COLUMN location;
  CREATE VIRTUAL TABLE terms USING fts5 (heading, body, content='', contentless_delete=1, tokenize='ascii');
  CREATE VIRTUAL TABLE vocabulary USING fts5vocab (terms, row);
  CREATE TABLE common_term (term TEXT PRIMARY KEY) WITHOUT ROWID;
  PRAGMA user_version = 1;
`;

/** A catalog with a collection `old` of one document, changed back to an earlier format. */
async function createOldCollection(downgrade: string) {
  const directory = await createTemporaryDirectory();
  const catalog = createSqliteCatalog(directory);
  const made = await catalog.openOrCreate('old', IDENTITY);
  await made.write([sampleDocument('a', 8, { chunks: ['owls hunt'] })]);
  await made.close();
  const file = new DatabaseSync(join(directory, 'old.sqlite'));
  file.exec(downgrade);
  file.close();
  return catalog;
}

test('upgrades a collection of format 1', async () => {
  const catalog = await createOldCollection(FIRST_FORMAT);

  const store = await catalog.openOrCreate('old', IDENTITY);
  const search = async (text: string) =>
    (await store.search({ text, vector: null, limit: 1, filter: {} }))[0]?.chunk;
  expect(await search('owls')).toMatchObject({ text: 'owls hunt' });
  expect((await search('owls'))?.location).toBeUndefined();

  const location = { unit: 'page' as const, from: 2, to: 3 };
  const next = sampleDocument('b', 8, { chunks: ['newts swim'] });
  await store.write([{ ...next, chunks: [{ ...(next.chunks[0] as ChunkRecord), location }] }]);
  expect((await search('newts'))?.location).toEqual(location);
  expect((await search('owls'))?.location).toBeUndefined();
  expect(await store.check()).toEqual([]);
  await store.close();
});

test('upgrades a collection of format 2', async () => {
  const catalog = await createOldCollection('DROP TABLE unembedded; PRAGMA user_version = 2;');

  const store = await catalog.openOrCreate('old', IDENTITY);
  expect(await store.info()).toMatchObject({ chunks: 1, withoutVector: 0 });
  const next = sampleDocument('b', 8, { chunks: ['newts swim'] });
  await store.write([{ ...next, chunks: next.chunks.map((chunk) => ({ ...chunk, vector: null })) }]);
  expect(await store.info()).toMatchObject({ chunks: 2, withoutVector: 1 });
  expect(await store.check()).toEqual([]);
  await store.close();
});
