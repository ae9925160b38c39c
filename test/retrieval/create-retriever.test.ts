import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { createQuery } from '../../src/domain/query.ts';
import type { ChunkStore } from '../../src/ports/chunk-store.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import { createRetriever } from '../../src/retrieval/create-retriever.ts';
import { sampleDocument } from '../contracts/sample-documents.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';

/** Each word is one dimension: the vector of a text has the dimensions of its words. */
const TOPICS = ['router', 'animal', 'weather', 'cooking'];
const DIMENSIONS = 8;
/** A text without these words points in another direction, different for queries and documents. */
function vectorOf(text: string, elsewhere: 6 | 7): Float32Array {
  const vector = Float32Array.from({ length: DIMENSIONS }, (_, at) =>
    text.toLowerCase().includes(TOPICS[at] ?? '-') ? 1 : 0,
  );
  if (vector.every((value) => value === 0)) vector[elsewhere] = 1;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const embedder = { embedQuery: async (text: string) => vectorOf(text, 6) } as unknown as Embedder;

async function storeOf(texts: Record<string, string>): Promise<ChunkStore> {
  const catalog = createSqliteCatalog(join(await createTemporaryDirectory(), 'collections'));
  const store = await catalog.openOrCreate('book', { embedder: 'test:topics', dimensions: DIMENSIONS });
  onTestFinished(() => store.close());
  await store.write(
    Object.entries(texts).map(([name, text]) =>
      sampleDocument(name, DIMENSIONS, { title: '', chunks: [{ text, vector: vectorOf(text, 7) }] }),
    ),
  );
  return store;
}

async function retrieve(store: ChunkStore, text: string) {
  const dependencies = {
    store,
    embedder: async () => embedder,
    mode: 'hybrid' as const,
    scoreThreshold: 0.35,
  };
  const { context } = await createRetriever(dependencies).retrieve(createQuery({ text, topK: 10 }));
  return { context, texts: context.chunks.map((chunk) => chunk.text) };
}

const ZOO = {
  a: 'An animal eats.',
  b: 'An animal sleeps.',
  c: 'The weather is fine.',
  d: 'Cooking takes time.',
};

test('returns a near miss when a passage shares only a common word with the question', async () => {
  const { context } = await retrieve(await storeOf(ZOO), 'Which shop takes time off?');
  expect(context.chunks).toEqual([]);
  expect(context.nearMiss).not.toBeNull();
});

test('never scores a passage higher than an earlier one', async () => {
  const store = await storeOf({
    a: 'An animal in the weather: the animal sleeps, the animal eats, the animal hides.',
    b: 'An animal.',
    c: 'animal animal weather',
    d: 'weather animal notes on sleeping and eating and hiding',
  });
  const scores = (await retrieve(store, 'where does an animal sleep')).context.chunks.map(
    ({ score }) => score,
  );
  expect(scores.length).toBeGreaterThan(2);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
});

test('says that the encoder knows only English if the question is in another language', async () => {
  const store = await storeOf(ZOO);
  const notesOf = async (text: string, isEnglishOnly: boolean) => {
    const dependencies = { store, embedder: async () => ({ ...embedder, isEnglishOnly }) };
    const retriever = createRetriever({ ...dependencies, mode: 'hybrid', scoreThreshold: 0 });
    return (await retriever.retrieve(createQuery({ text, topK: 1 }))).context.notes;
  };
  expect(await notesOf('Wie schläft ein Tier?', true)).toEqual([expect.stringContaining('German')]);
  expect(await notesOf('Wie schläft ein Tier?', false)).toEqual([]);
  expect(await notesOf('How does an animal sleep?', true)).toEqual([]);
});
