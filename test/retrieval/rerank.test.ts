import { expect, test } from 'vitest';
import { createQuery } from '../../src/domain/query.ts';
import { createRetrievalContext, retrievalContextSchema } from '../../src/domain/retrieval-context.ts';
import { AppError } from '../../src/faults/app-error.ts';
import type { Reranker } from '../../src/ports/reranker.ts';
import type { RankedHit, Retriever } from '../../src/retrieval/create-retriever.ts';
import { withReranker } from '../../src/retrieval/rerank.ts';
import { chunk, NOW } from '../domain/arbitraries.ts';

/** Hits in descending order of score. */
const HITS = Array.from({ length: 120 }, (_, index): RankedHit => {
  const { score, ...stored } = chunk({
    chunkId: `c${index}`,
    text: `text ${index}`,
    score: 0.9 - index / 200,
  });
  return {
    chunk: stored,
    score,
    fusedScore: score,
    fusedRank: index + 1,
    rerankScore: null,
    lexical: { rank: index + 1, score },
    dense: { rank: index + 1, score },
  };
});

function retrieverOf(found: readonly RankedHit[] = HITS) {
  const asked: number[] = [];
  const retriever: Retriever = {
    async retrieve({ text, topK, filter }) {
      asked.push(topK);
      const hits = found.slice(0, topK);
      const chunks = hits.map(({ chunk: stored, score }) => ({ ...stored, score }));
      const facts = { totalFound: found.length, scoreThreshold: 0.4, queryTimeMs: 1, retrievedAt: NOW };
      return { hits, context: createRetrievalContext({ query: text, filter, chunks, ...facts }) };
    },
  };
  return { retriever, asked };
}

/** Ranks the last document first. */
function backwards() {
  const asked: Array<{ query: string; documents: readonly string[]; topN: number }> = [];
  const reranker: Reranker = {
    id: 'test:backwards',
    scoreThreshold: 0.95,
    async rerank(query, documents, topN) {
      asked.push({ query, documents, topN });
      const last = documents.length - 1;
      return Array.from({ length: topN }, (_, index) => ({ index: last - index, score: 1 - index / 10 }));
    },
  };
  return { reranker, asked };
}

const failing = (error: Error): Reranker => ({
  id: 'test:failing',
  scoreThreshold: 0.5,
  rerank: () => Promise.reject(error),
});

const query = createQuery({ text: 'How do nodes talk?', topK: 3 });
const idsOf = (hits: readonly RankedHit[]) => hits.map((hit) => hit.chunk.chunkId);

test("returns the best of 50 candidates with the reranker's scores", async () => {
  const { retriever, asked } = retrieverOf();
  const { reranker, asked: ranked } = backwards();
  const { hits, context } = await withReranker(retriever, reranker).retrieve(query);
  expect(asked).toEqual([50]);
  expect(ranked[0]).toMatchObject({ query: 'How do nodes talk?', topN: 3 });
  expect(ranked[0]?.documents).toHaveLength(50);
  expect(ranked[0]?.documents[7]).toBe('Topics > Topics > Publishing\ntext 7');
  expect(idsOf(hits)).toEqual(['c49', 'c48', 'c47']);
  expect(context.chunks.map(({ chunkId, score }) => [chunkId, score])).toEqual([
    ['c49', 1],
    ['c48', 0.9],
    ['c47', 0.8],
  ]);
  expect(context).toMatchObject({ totalFound: 120, totalTokens: 30, scoreThreshold: 0.95, notes: [] });
  expect(context.hasRelevantResults).toBe(true);
  expect(retrievalContextSchema.parse(context)).toEqual(context);
});

test('keeps the scores that a hit was found with', async () => {
  const { hits } = await withReranker(retrieverOf().retriever, backwards().reranker).retrieve(query);
  expect(hits[0]).toMatchObject({
    score: 1,
    lexical: { rank: 50, score: HITS[49]?.score },
    dense: { rank: 50, score: HITS[49]?.score },
    fusedScore: HITS[49]?.fusedScore,
  });
});

test('returns more than 50 hits if topK is larger, and fewer if fewer are found', async () => {
  const many = retrieverOf();
  const wide = await withReranker(many.retriever, backwards().reranker).retrieve({ ...query, topK: 80 });
  expect(many.asked).toEqual([80]);
  expect(wide.hits).toHaveLength(80);
  const few = retrieverOf(HITS.slice(0, 2));
  const narrow = await withReranker(few.retriever, backwards().reranker).retrieve(query);
  expect(idsOf(narrow.hits)).toEqual(['c1', 'c0']);
});

test("compares the query's threshold with the reranker's scores", async () => {
  const reranked = withReranker(retrieverOf().retriever, backwards().reranker);
  const { hits, context } = await reranked.retrieve({ ...query, scoreThreshold: 0.85 });
  expect(idsOf(hits)).toEqual(['c49', 'c48']);
  expect(context).toMatchObject({ scoreThreshold: 0.85, totalFound: 2, nearMiss: null });
  const none = await reranked.retrieve({ ...query, scoreThreshold: 1.5 });
  expect(none.context).toMatchObject({ chunks: [], nearMiss: { chunkId: 'c49', score: 1 } });
});

test('does not call the reranker when nothing was found', async () => {
  const { reranker, asked } = backwards();
  const { context } = await withReranker(retrieverOf([]).retriever, reranker).retrieve(query);
  expect(asked).toEqual([]);
  expect(context).toMatchObject({ chunks: [], scoreThreshold: 0.4 });
});

test.each([
  [
    new AppError('api_error', 'Cohere is overloaded.'),
    'The results were not reranked. Cohere is overloaded.',
  ],
  [new Error('no such thing'), 'The results were not reranked. no such thing.'],
])('keeps the order and adds a note when the reranker fails', async (error, notice) => {
  const { hits, context } = await withReranker(retrieverOf().retriever, failing(error)).retrieve(query);
  expect(idsOf(hits)).toEqual(['c0', 'c1', 'c2']);
  expect(hits.map(({ score }) => score)).toEqual(HITS.slice(0, 3).map(({ score }) => score));
  expect(context).toMatchObject({ totalFound: 120, totalTokens: 30, scoreThreshold: 0.4, notes: [notice] });
});

test('does not treat an aborted search as a failed reranker', async () => {
  const controller = new AbortController();
  const reranker: Reranker = {
    ...failing(new Error('aborted')),
    async rerank() {
      controller.abort(new Error('enough'));
      throw new Error('aborted');
    },
  };
  await expect(
    withReranker(retrieverOf().retriever, reranker).retrieve(query, controller.signal),
  ).rejects.toThrow('enough');
});

test('reads a context of an earlier version without notes', () => {
  const { notes, ...earlier } = createRetrievalContext({
    query: 'q',
    chunks: [],
    scoreThreshold: 0.3,
    queryTimeMs: 0,
    retrievedAt: NOW,
  });
  expect(retrievalContextSchema.parse(earlier).notes).toEqual(notes);
});
