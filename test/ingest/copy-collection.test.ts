import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { copyCollection } from '../../src/ingest/copy-collection.ts';
import type { ChunkStore, ChunkVectors, ChunkWords, CollectionCatalog } from '../../src/ports/chunk-store.ts';
import { WORD_DIMENSIONS, WORD_VALUE_STEP } from '../../src/ports/embedder.ts';
import { sampleDocument } from '../contracts/sample-documents.ts';
import { createTemporaryCatalog, getTestQdrant } from '../support/qdrant-server.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';

const IDENTITY = { embedder: 'test:eight', dimensions: 8 };
const DOCUMENTS = Array.from({ length: 70 }, (_, index) =>
  sampleDocument(`doc-${index}`, 8, { chunks: [`first part of ${index}`, `second part of ${index}`] }),
);
const server = await getTestQdrant();

async function sqlite(): Promise<CollectionCatalog> {
  return createSqliteCatalog(join(await createTemporaryDirectory(), 'collections'));
}

async function opened(catalog: CollectionCatalog, name = 'book'): Promise<ChunkStore> {
  const store = await catalog.openOrCreate(name, IDENTITY);
  onTestFinished(() => store.close());
  return store;
}

/** Texts and paths of no word, one word and more. */
function sampleWords(text: number, path: number): ChunkWords {
  const vectors = (count: number, value: number) => new Int8Array(count * WORD_DIMENSIONS).fill(value);
  return { text: vectors(text, text * WORD_VALUE_STEP), path: vectors(path, -7 * WORD_VALUE_STEP) };
}

async function everythingIn(store: ChunkStore) {
  const uris: string[] = [];
  for await (const { uri } of store.documents()) uris.push(uri);
  return store.read(uris);
}

async function bookStore(): Promise<ChunkStore> {
  const store = await opened(await sqlite());
  await store.write(DOCUMENTS);
  return store;
}

test('copies documents, chunks and vectors', async () => {
  const from = await bookStore();
  const to = await opened(await sqlite());
  const progress: number[] = [];
  const summary = await copyCollection(from, to, {
    prune: false,
    onProgress: ({ documents }) => progress.push(documents),
  });
  expect(summary).toEqual({ copied: 70, unchanged: 0, removed: 0, kept: 0, chunks: 140 });
  expect(await everythingIn(to)).toEqual(await everythingIn(from));
  expect(progress).toEqual([0, 32, 64, 70]);
});

test('the next copy adds vectors that were missing in the first', async () => {
  const from = await opened(await sqlite());
  const to = await opened(await sqlite());
  const [whole, ...others] = DOCUMENTS;
  const bare = others.map((write) => ({
    ...write,
    chunks: write.chunks.map((chunk) => ({ ...chunk, vector: null })),
  }));
  await from.write([...(whole ? [whole] : []), ...bare]);
  await copyCollection(from, to, { prune: false });
  expect(await to.info()).toMatchObject({ chunks: 140, withoutVector: 138 });
  const vectors = others.flatMap(({ chunks }) =>
    chunks.map(({ contentHash, vector }) => [contentHash, { vector, words: null }]),
  );
  await from.addVectors(new Map(vectors as [string, ChunkVectors][]));
  expect(await copyCollection(from, to, { prune: false })).toMatchObject({ copied: 0, unchanged: 70 });
  expect(await everythingIn(to)).toEqual(
    DOCUMENTS.toSorted((a, b) => (a.document.uri < b.document.uri ? -1 : 1)),
  );
  expect(await to.check()).toEqual([]);
});

test('continues an interrupted copy, and does nothing when it is complete', async () => {
  const from = await bookStore();
  const to = await opened(await sqlite());
  const stop = new AbortController();
  const interrupted = copyCollection(from, to, {
    prune: false,
    signal: stop.signal,
    onProgress: ({ documents }) => documents > 0 && stop.abort(new Error('stopped')),
  });
  await expect(interrupted).rejects.toThrow('stopped');
  const summary = await copyCollection(from, to, { prune: false });
  expect(summary.copied + summary.unchanged).toBe(70);
  expect(summary.unchanged).toBeGreaterThan(0);
  expect(await copyCollection(from, to, { prune: false })).toMatchObject({ copied: 0, unchanged: 70 });
  expect(await everythingIn(to)).toEqual(await everythingIn(from));
});

test('keeps documents that only the target has, unless pruned', async () => {
  const from = await bookStore();
  const to = await opened(await sqlite());
  await to.write([sampleDocument('stranger', 8, { chunks: ['not of the book'] })]);
  expect(await copyCollection(from, to, { prune: false })).toMatchObject({ kept: 1, removed: 0 });
  expect(await copyCollection(from, to, { prune: true })).toMatchObject({ kept: 0, removed: 1 });
  expect(await everythingIn(to)).toEqual(await everythingIn(from));
});

test.skipIf(server === null)('loses nothing when copied to Qdrant and back', async () => {
  const from = await opened(await sqlite());
  await from.write(
    DOCUMENTS.map(({ document, chunks }, index) => ({
      document,
      chunks: chunks.map((chunk) => ({ ...chunk, words: sampleWords(index % 3, chunk.chunkIndex) })),
    })),
  );
  const there = await opened(createTemporaryCatalog(server as NonNullable<typeof server>));
  await copyCollection(from, there, { prune: false });
  const back = await opened(await sqlite());
  await copyCollection(there, back, { prune: false });
  const [before, after] = [await everythingIn(from), await everythingIn(back)];
  expect(after.map(({ document }) => document)).toEqual(before.map(({ document }) => document));
  const chunksOf = (writes: typeof before) =>
    writes.flatMap(({ chunks }) => chunks.map(({ vector, ...chunk }) => chunk));
  expect(chunksOf(after)).toEqual(chunksOf(before));
  // The server normalizes vectors.
  const vectors = after.flatMap(({ chunks }) => chunks.map(({ vector }) => vector));
  before
    .flatMap(({ chunks }) => chunks)
    .forEach(({ vector }, index) => {
      for (const [at, value] of (vector ?? new Float32Array()).entries())
        expect(vectors[index]?.[at]).toBeCloseTo(value, 4);
    });
});
