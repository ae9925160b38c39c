import { expect, test } from 'vitest';
import { createQuery } from '../../src/domain/query.ts';
import { createRetrievalContext } from '../../src/domain/retrieval-context.ts';
import type { ChunkStore } from '../../src/ports/chunk-store.ts';
import type { RetrievalHit, Retriever } from '../../src/retrieval/create-retriever.ts';
import { rerankByNearness, type ScoreWordSimilarity } from '../../src/retrieval/rerank.ts';
import { chunk, NOW } from '../domain/arbitraries.ts';

const HITS = Array.from({ length: 12 }, (_, index): RetrievalHit => {
  const { score, ...stored } = chunk({ chunkId: `c${index}`, score: 0.8 - index / 20 });
  const halves = { lexical: { rank: index + 1, score }, dense: { rank: index + 1, score } };
  return { chunk: stored, score, fusedScore: score, fusedRank: index + 1, rerankScore: null, ...halves };
});

const asked: number[] = [];
const retriever: Retriever = {
  async retrieve({ text, topK, filter }) {
    asked.push(topK);
    const hits = HITS.slice(0, topK);
    const chunks = hits.map((hit) => ({ ...hit.chunk, score: hit.score }));
    const facts = { totalFound: 12, scoreThreshold: 0.3, queryTimeMs: 1, retrievedAt: NOW };
    return { hits, context: createRetrievalContext({ query: text, filter, chunks, ...facts }) };
  },
};
/** "owl" is in one of its hundred chunks, "newt" in fifty. */
const store = {
  count: async () => 100,
  containing: async () =>
    new Map([
      ['owl', 1],
      ['newt', 50],
    ]),
} as unknown as ChunkStore;

const reranked = (nearness: ScoreWordSimilarity | null) =>
  rerankByNearness(retriever, { store, nearness: async () => nearness });
const query = createQuery({ text: 'owl and newt', topK: 3 });
const idsOf = (hits: readonly RetrievalHit[]) => hits.map((hit) => hit.chunk.chunkId);

test('orders the first ten hits by word similarity and caps their scores', async () => {
  const nearest: ScoreWordSimilarity = async (_, passages) =>
    passages.map(({ chunkId }) => (chunkId === 'c9' ? 1 : 0));
  const { hits, context } = await reranked(nearest).retrieve(query);
  expect(asked.at(-1)).toBe(10);
  expect(idsOf(hits)).toEqual(['c9', 'c0', 'c1']);
  expect(hits.map(({ rerankScore }) => rerankScore)).toEqual([1, 0, 0]);
  expect(context.chunks.map(({ score }) => score)).toEqual(
    [0.35, 0.35, 0.35].map((score) => expect.closeTo(score)),
  );
  expect(context.totalFound).toBe(12);
});

test('keeps a much better hit before a slightly more similar one', async () => {
  const nearness: ScoreWordSimilarity = async (_, passages) => passages.map((_passage, index) => index / 100);
  const { hits } = await reranked(nearness).retrieve(query);
  expect(idsOf(hits)).toEqual(['c0', 'c1', 'c2']);
});

test('weighs rare words higher', async () => {
  let weights: number[] = [];
  const nearness: ScoreWordSimilarity = async (_, passages, weightOf) => {
    weights = ['badger', 'owl', 'newt'].map(weightOf);
    return passages.map(() => 0);
  };
  await reranked(nearness).retrieve(query);
  expect(weights).toEqual(weights.toSorted((a, b) => b - a));
  expect(new Set(weights).size).toBe(3);
});

test('keeps the order of hits beyond the tenth', async () => {
  const nearness: ScoreWordSimilarity = async (_, passages) => passages.map((_passage, index) => index / 5);
  const { hits } = await reranked(nearness).retrieve({ ...query, topK: 12 });
  expect(idsOf(hits).slice(10)).toEqual(['c10', 'c11']);
  expect(idsOf(hits)[0]).toBe('c9');
});

test('keeps the order without an encoder or when it fails', async () => {
  const without = await reranked(null).retrieve(query);
  expect(idsOf(without.hits)).toEqual(['c0', 'c1', 'c2']);
  expect(without.context.notes).toEqual([]);
  const failed = await reranked(() => Promise.reject(new Error('the engine stopped'))).retrieve(query);
  expect(idsOf(failed.hits)).toEqual(['c0', 'c1', 'c2']);
  expect(failed.context.notes).toEqual(['The results were not reranked. the engine stopped.']);
});
