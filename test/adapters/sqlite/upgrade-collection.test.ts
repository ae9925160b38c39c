import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import { sampleDocument } from '../../contracts/sample-documents.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const IDENTITY = { embedder: 'test:eight', dimensions: 8 };

test('upgrades a collection of format 2', async () => {
  const directory = await temporaryDirectory();
  const catalog = createSqliteCatalog(directory);
  const made = await catalog.openOrCreate('old', IDENTITY);
  await made.write([sampleDocument('a', 8, { chunks: ['owls hunt'] })]);
  await made.close();
  const file = new DatabaseSync(join(directory, 'old.sqlite'));
  file.exec('DROP TABLE unembedded; PRAGMA user_version = 2;');
  file.close();

  const store = await catalog.openOrCreate('old', IDENTITY);
  expect(await store.info()).toMatchObject({ chunks: 1, withoutVector: 0 });
  const next = sampleDocument('b', 8, { chunks: ['newts swim'] });
  await store.write([{ ...next, chunks: next.chunks.map((chunk) => ({ ...chunk, vector: null })) }]);
  expect(await store.info()).toMatchObject({ chunks: 2, withoutVector: 1 });
  expect(await store.check()).toEqual([]);
  await store.close();
});
