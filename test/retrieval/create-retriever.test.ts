import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import type { SearchMode } from '../../src/domain/choices.ts';
import { createQuery } from '../../src/domain/query.ts';
import { toToolResponse } from '../../src/domain/retrieval-tool-response.ts';
import type { ChunkStore } from '../../src/ports/chunk-store.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import { createRetriever } from '../../src/retrieval/create-retriever.ts';
import { sampleDocument } from '../contracts/sample-documents.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Each word is one dimension: the vector of a text has the dimensions of its words. */
const TOPICS = ['router', 'animal', 'weather', 'cooking'];
const DIMENSIONS = 8;
const DICTIONARY = new Set([
  'takes',
  'time',
  'spring',
  'opening',
  'hours',
  'shop',
  'router',
  'animal',
  'weather',
  'cooking',
]);

/** A text without these words points in another direction, different for queries and documents. */
function vectorOf(text: string, elsewhere: 6 | 7): Float32Array {
  const vector = Float32Array.from({ length: DIMENSIONS }, (_, at) =>
    text.toLowerCase().includes(TOPICS[at] ?? '-') ? 1 : 0,
  );
  if (vector.every((value) => value === 0)) vector[elsewhere] = 1;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const embedded: string[] = [];
const embedder = {
  knowsWord: (word: string) => DICTIONARY.has(word),
  embedQuery: async (text: string) => {
    embedded.push(text);
    return vectorOf(text, 6);
  },
} as unknown as Embedder;

async function storeOf(texts: Record<string, string>): Promise<ChunkStore> {
  const catalog = createSqliteCatalog(join(await temporaryDirectory(), 'collections'));
  const store = await catalog.openOrCreate('book', { embedder: 'test:topics', dimensions: DIMENSIONS });
  onTestFinished(() => store.close());
  await store.write(
    Object.entries(texts).map(([name, text]) =>
      sampleDocument(name, DIMENSIONS, { title: '', chunks: [{ text, vector: vectorOf(text, 7) }] }),
    ),
  );
  return store;
}

async function retrieve(store: ChunkStore, text: string, mode: SearchMode = 'hybrid', scoreThreshold = 0.35) {
  const retriever = createRetriever({ store, embedder: async () => embedder, mode, scoreThreshold });
  const { context } = await retriever.retrieve(createQuery({ text, topK: 10 }));
  return { context, texts: context.chunks.map((chunk) => chunk.text) };
}

test('corrects a misspelled word and reports the correction', async () => {
  const store = await storeOf({ a: 'Restart the router twice.', b: 'Rain is weather.' });
  const { context, texts } = await retrieve(store, 'how to restart teh rotuer');
  expect(texts[0]).toBe('Restart the router twice.');
  expect(embedded.at(-1)).toBe('how to restart teh router');
  expect(context).toMatchObject({
    query: 'how to restart teh rotuer',
    corrections: [{ typed: 'rotuer', meant: 'router' }],
    notes: ['No document has "rotuer": searched for "router".'],
  });
  const response = toToolResponse({ context, texts }, (_, index) => String(index + 1));
  expect(response.corrected).toEqual([{ typed: 'rotuer', meant: 'router' }]);
  expect(response.message).toContain('searched for "router"');
});

test.each([
  ['a word that documents have', 'rotuer', { a: 'A rotuer is a router.', b: 'A router.' }],
  ['a word of the dictionary that they lack', 'spring', { a: 'A string is tied.' }],
  ['a word that is near the stem of another', 'linter', { a: 'To lint is to check.' }],
  ['a name in code', 'rotuer_table()', { a: 'A router has routes.' }],
  ['a part of a path', '/etc/rotuer', { a: 'A router has routes.' }],
])('does not correct %s', async (_, query, texts) => {
  const { context } = await retrieve(await storeOf(texts), `what about ${query} here`);
  expect(context.corrections).toBeUndefined();
  expect(context.notes).toEqual([]);
});

test('does not correct a text with many unknown words', async () => {
  const store = await storeOf({ a: 'Restart the router and the server with the button or the switch.' });
  const { context } = await retrieve(store, 'rotuer srever buton swicth');
  expect(context.corrections).toBeUndefined();
});

test('without a dictionary, does not replace letters', async () => {
  const store = await storeOf({ a: 'Restart the router.', b: 'A string is tied.' });
  expect((await retrieve(store, 'rotuer', 'lexical', 0)).context.corrections).toHaveLength(1);
  expect((await retrieve(store, 'spring', 'lexical', 0)).context.corrections).toBeUndefined();
});

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
