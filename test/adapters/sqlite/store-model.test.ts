import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import type { ChunkStore, DocumentWrite } from '../../../src/ports/chunk-store.ts';
import { sampleDocument, vectorOf } from '../../contracts/sample-documents.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { findSegmentProblems } from './segment-problems.ts';

const DIMENSIONS = 24;
const IDENTITY = { embedder: 'test:model', dimensions: DIMENSIONS };

const name = fc.integer({ min: 0, max: 6 }).map((number) => `d${number}`);
const written = fc.record({ name, version: fc.nat({ max: 99 }), chunks: fc.integer({ min: 0, max: 60 }) });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ write: fc.array(written, { minLength: 1, maxLength: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ rename: fc.record({ from: name, to: written }) }) },
  { weight: 2, arbitrary: fc.record({ remove: fc.array(name, { minLength: 1, maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.constant({ settle: true } as const) },
);

type Model = Map<string, DocumentWrite>;

function documentOf({
  name,
  version,
  chunks,
}: {
  name: string;
  version: number;
  chunks: number;
}): DocumentWrite {
  const texts = Array.from({ length: chunks }, (_, index) => `${name} version${version} part${index}`);
  return sampleDocument(name, DIMENSIONS, { module: name, chunks: texts });
}

async function apply(
  store: ChunkStore,
  model: Model,
  change: typeof step extends fc.Arbitrary<infer T> ? T : never,
) {
  if ('write' in change) {
    const writes = change.write.map(documentOf);
    await store.write(writes);
    for (const write of writes) model.set(write.document.uri, write);
  } else if ('rename' in change) {
    const replaces = `file:///book/${change.rename.from}.md`;
    const write = documentOf(change.rename.to);
    await store.write([{ ...write, replaces }]);
    model.delete(replaces);
    model.set(write.document.uri, write);
  } else if ('remove' in change) {
    const uris = change.remove.map((removed) => `file:///book/${removed}.md`);
    await store.remove(uris);
    for (const uri of uris) model.delete(uri);
  } else {
    await store.settle();
  }
}

async function expectSame(store: ChunkStore, model: Model, directory: string): Promise<void> {
  expect(await store.check()).toEqual([]);
  expect(findSegmentProblems(join(directory, `${store.name}.sqlite`), DIMENSIONS)).toEqual([]);
  const documents = await Array.fromAsync(store.documents());
  expect(documents).toEqual(
    [...model.values()].map((write) => write.document).sort((a, b) => (a.uri < b.uri ? -1 : 1)),
  );
  const chunks = [...model.values()].flatMap((write) => write.chunks);
  const everything = { limit: 1000, filter: {} };
  const near = await store.search({ ...everything, text: null, vector: vectorOf('any', DIMENSIONS) });
  expect(near.map((hit) => hit.chunk.chunkId).sort()).toEqual(chunks.map((chunk) => chunk.chunkId).sort());
  expect(new Set(near.map((hit) => hit.chunk.text))).toEqual(new Set(chunks.map((chunk) => chunk.text)));
  const target = chunks[Math.floor(chunks.length / 2)];
  if (target === undefined) return;
  const [nearest] = await store.search({ ...everything, text: null, vector: target.vector });
  expect(nearest?.chunk.text).toBe(target.text);
  const [word = ''] = target.text.split(' ');
  const matching = await store.search({ ...everything, text: word, vector: null });
  expect(matching).toHaveLength(chunks.filter((chunk) => chunk.text.startsWith(`${word} `)).length);
}

test('holds the same as a plain map after any writes, renames and removals', async () => {
  const directory = await createTemporaryDirectory();
  const catalog = createSqliteCatalog(directory);
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
      round += 1;
      const store = await catalog.openOrCreate(`round${round}`, IDENTITY);
      const reader = await catalog.openOrCreate(`round${round}`, IDENTITY);
      try {
        const model: Model = new Map();
        for (const change of steps) {
          await apply(store, model, change);
          await expectSame(store, model, directory);
          await expectSame(reader, model, directory);
        }
      } finally {
        await store.close();
        await reader.close();
      }
    }),
    { numRuns: 12 },
  );
});

test('merges many small writes and keeps only live vectors', async () => {
  const directory = await createTemporaryDirectory();
  const catalog = createSqliteCatalog(directory);
  const store = await catalog.openOrCreate('small', IDENTITY);
  const model: Model = new Map();
  for (let number = 0; number < 150; number += 1) {
    await apply(store, model, { write: [{ name: `d${number % 100}`, version: number, chunks: 3 }] });
  }
  await expectSame(store, model, directory);
  await store.close();
});

test('a collection does not grow when its documents are replaced again and again', async () => {
  const directory = await createTemporaryDirectory();
  const catalog = createSqliteCatalog(directory);
  const store = await catalog.openOrCreate('churn', IDENTITY);
  const replaceAll = async (version: number) => {
    for (let number = 0; number < 20; number += 1) {
      await store.write([documentOf({ name: `d${number}`, version, chunks: 20 })]);
    }
    await store.settle();
    return (await store.info()).bytes;
  };
  const first = await replaceAll(0);
  let last = first;
  for (let version = 1; version <= 12; version += 1) last = await replaceAll(version);
  expect(last).toBeLessThan(first * 1.5);
  await store.remove(Array.from({ length: 20 }, (_, number) => `file:///book/d${number}.md`));
  await store.settle();
  expect((await store.info()).bytes).toBeLessThan(first);
  expect(await store.check()).toEqual([]);
  await store.close();
});
