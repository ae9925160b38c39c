import { expect, test } from 'vitest';
import { createQuery } from '../../src/domain/query.ts';
import { createRetrievalContext } from '../../src/domain/retrieval-context.ts';
import type { ChunkStore, ChunkWords } from '../../src/ports/chunk-store.ts';
import { type Embedder, WORD_DIMENSIONS } from '../../src/ports/embedder.ts';
import type { RankedHit, Retriever } from '../../src/retrieval/create-retriever.ts';
import { withWordReranker } from '../../src/retrieval/rerank.ts';
import { findContentWords } from '../../src/text/content-words.ts';
import { chunk, NOW } from '../domain/arbitraries.ts';

const HITS = Array.from({ length: 40 }, (_, index): RankedHit => {
  const { score, ...stored } = chunk({ chunkId: `c${index}`, score: 0.8 - index / 100 });
  const halves = { lexical: { rank: index + 1, score }, dense: { rank: index + 1, score } };
  return { chunk: stored, score, fusedScore: score, fusedRank: index + 1, rerankScore: null, ...halves };
});

const asked: number[] = [];
const retriever: Retriever = {
  async retrieve({ text, topK, filter }) {
    asked.push(topK);
    const hits = HITS.slice(0, topK);
    const chunks = hits.map((hit) => ({ ...hit.chunk, score: hit.score }));
    const facts = { totalFound: 40, scoreThreshold: 0.3, queryTimeMs: 1, retrievedAt: NOW };
    return { hits, context: createRetrievalContext({ query: text, filter, chunks, ...facts }) };
  },
};

/** Each word has its own dimension. */
const WORDS = ['owl', 'newt', 'badger'];
function wordVectors(...words: string[]): Int8Array {
  const vectors = new Int8Array(words.length * WORD_DIMENSIONS);
  words.forEach((word, index) => {
    vectors[index * WORD_DIMENSIONS + WORDS.indexOf(word)] = 127;
  });
  return vectors;
}
const embedder = {
  embedWords: async (texts: readonly string[]) =>
    texts.map((text) => ({
      vector: new Float32Array(),
      words: wordVectors(...findContentWords(text).map(({ term }) => term)),
    })),
} as unknown as Embedder;

/** "owl" is in one of its hundred chunks, "newt" in fifty. */
function rerankWith(
  words: Record<string, Partial<ChunkWords>>,
  given: Embedder = embedder,
  found: Retriever = retriever,
): Retriever {
  const store = {
    count: async () => 100,
    containing: async () =>
      new Map([
        ['owl', 1],
        ['newt', 50],
      ]),
    wordVectors: async (chunkIds: readonly string[]) =>
      new Map(
        chunkIds.flatMap((id) =>
          words[id] === undefined
            ? []
            : [[id, { text: new Int8Array(), path: new Int8Array(), ...words[id] }]],
        ),
      ),
  } as unknown as ChunkStore;
  return withWordReranker(found, { store, embedder: async () => given });
}
const query = createQuery({ text: 'owl and newt', topK: 3 });
const idsOf = (hits: readonly RankedHit[]) => hits.map((hit) => hit.chunk.chunkId);

test('puts a hit with the words of the query first and scores hits by the mean of both', async () => {
  const { hits, context } = await rerankWith({ c9: { text: wordVectors('newt', 'owl') } }).retrieve(query);
  expect(asked.at(-1)).toBe(80);
  expect(idsOf(hits)).toEqual(['c9', 'c0', 'c1']);
  expect(hits.map(({ rerankScore }) => rerankScore)).toEqual([expect.closeTo(0.75), 0, 0]);
  const scores = context.chunks.map(({ score }) => score);
  expect(scores).toEqual(
    [0.71, 0.8, 0.79].map((fused, index) => expect.closeTo((fused + (index === 0 ? 0.75 : 0)) / 2)),
  );
  expect(context.totalFound).toBe(40);
});

test('weighs rare words higher, and the words of the text higher than those of the path', async () => {
  const { hits } = await rerankWith({
    c1: { text: wordVectors('newt') },
    c2: { text: wordVectors('owl') },
    c3: { path: wordVectors('owl') },
    c4: { text: wordVectors('badger') },
  }).retrieve(query);
  const [owl, path, newt] = [hits[0], hits[1], hits[2]];
  expect(owl?.chunk.chunkId).toBe('c2');
  expect(path?.rerankScore ?? 0).toBeLessThan(owl?.rerankScore ?? 0);
  expect(newt?.rerankScore ?? 0).toBeLessThan(owl?.rerankScore ?? 0);
});

test('compares the ten nearest by meaning wherever words rank them', async () => {
  const nearest = HITS.map((hit, index) => ({
    ...hit,
    dense: { rank: index === 35 ? 10 : index + 11, score: 0.5 },
  }));
  const given: Retriever = {
    async retrieve(asked) {
      const found = await retriever.retrieve(asked);
      return { ...found, hits: nearest.slice(0, asked.topK) };
    },
  };
  const { hits } = await rerankWith({ c35: { text: wordVectors('owl', 'newt') } }, embedder, given).retrieve(
    query,
  );
  expect(idsOf(hits)[0]).toBe('c35');
});

test('keeps the order of hits that are not compared', async () => {
  const { hits } = await rerankWith({ c35: { text: wordVectors('owl', 'newt') } }).retrieve({
    ...query,
    topK: 40,
  });
  expect(idsOf(hits)).toEqual(idsOf(HITS));
});

test('keeps the order without word vectors, without content words, or when embedding fails', async () => {
  const words = { c9: { text: wordVectors('owl', 'newt') } };
  for (const [rerank, text] of [
    [rerankWith({}), 'owl and newt'],
    [rerankWith(words), 'and the'],
    [rerankWith(words, {} as Embedder), 'owl and newt'],
  ] as const) {
    const { hits, context } = await rerank.retrieve({ ...query, text });
    expect(idsOf(hits)).toEqual(['c0', 'c1', 'c2']);
    expect(context.notes).toEqual([]);
  }
  const failing = { embedWords: () => Promise.reject(new Error('the engine stopped')) };
  const failed = await rerankWith(words, failing as unknown as Embedder).retrieve(query);
  expect(idsOf(failed.hits)).toEqual(['c0', 'c1', 'c2']);
  expect(failed.context.notes).toEqual(['The results were not reranked. the engine stopped.']);
});

test('reports once that a collection has no word vectors', async () => {
  let reports = 0;
  const store = { count: async () => 1, wordVectors: async () => new Map() } as unknown as ChunkStore;
  const onMissing = () => {
    reports += 1;
  };
  const reranking = withWordReranker(retriever, { store, embedder: async () => embedder, onMissing });
  for (let round = 0; round < 2; round += 1) await reranking.retrieve(query);
  expect(reports).toBe(1);
});
