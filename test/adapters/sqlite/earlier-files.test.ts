import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import type { ChunkRecord } from '../../../src/ports/chunk-store.ts';
import { sampleDocument } from '../../contracts/sample-documents.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const IDENTITY = { embedder: 'test:eight', dimensions: 8 };

test('a collection from before chunks had places is read, and keeps places from its next change on', async () => {
  const directory = await temporaryDirectory();
  const catalog = createSqliteCatalog(directory);
  const made = await catalog.openOrCreate('old', IDENTITY);
  await made.write([sampleDocument('a', 8, { chunks: ['owls hunt'] })]);
  await made.close();
  const file = new DatabaseSync(join(directory, 'old.sqlite'));
  file.exec('ALTER TABLE chunk DROP COLUMN location');
  file.close();

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
  await store.close();
});
