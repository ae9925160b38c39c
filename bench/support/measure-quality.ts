import type { SearchMode } from '../../src/domain/setting-choices.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import { createRetriever } from '../../src/retrieval/create-retriever.ts';
import { withWordReranker } from '../../src/retrieval/rerank.ts';
import type { OpenRetrievalSet, RetrievalQuery } from './retrieval-set.ts';
import { mean, ndcgAt, recallAt } from './retrieval-set.ts';

export const RETRIEVAL_METRICS = ['nDCG@10', 'recall@5', 'recall@10'] as const;
/** In the order of `RETRIEVAL_METRICS`. */
export type RetrievalScores = readonly [number, number, number];
export type ScoresByMode = Record<SearchMode, RetrievalScores>;

type SearchedSet = Pick<OpenRetrievalSet, 'store' | 'documentOf'>;

const TOP_CHUNKS = 100;

/** Runs every query in every mode. */
export async function measureQuality(
  set: SearchedSet,
  embedder: Embedder,
  queries: readonly RetrievalQuery[],
): Promise<ScoresByMode> {
  const cached = cacheQueries(embedder);
  return {
    hybrid: await measureMode('hybrid', set, cached, queries),
    dense: await measureMode('dense', set, cached, queries),
    lexical: await measureMode('lexical', set, cached, queries),
  };
}

/** Scores the ranking of documents by their best chunk, or reranked by their words. */
export async function measureMode(
  mode: SearchMode,
  { store, documentOf }: SearchedSet,
  embedder: Embedder,
  queries: readonly RetrievalQuery[],
  reranked = false,
): Promise<RetrievalScores> {
  const base = createRetriever({ store, embedder: async () => embedder, mode, scoreThreshold: 0 });
  const retriever = reranked ? withWordReranker(base, { store, embedder: async () => embedder }) : base;
  const scores: RetrievalScores[] = [];
  for (const { text, relevance } of queries) {
    const { hits } = await retriever.retrieve({ text, topK: TOP_CHUNKS, filter: {} });
    const ranking = [...new Set(hits.map(({ chunk }) => documentOf(chunk.url)))];
    scores.push([
      ndcgAt(10, ranking, relevance),
      recallAt(5, ranking, relevance),
      recallAt(10, ranking, relevance),
    ]);
  }
  const average = (metric: 0 | 1 | 2) => mean(scores.map((score) => score[metric]));
  return [average(0), average(1), average(2)];
}

/** Caches query vectors, because the modes run the same queries. */
function cacheQueries(embedder: Embedder): Embedder {
  const vectors = new Map<string, Promise<Float32Array>>();
  return {
    ...embedder,
    embedQuery(text, signal) {
      const vector = vectors.get(text) ?? embedder.embedQuery(text, signal);
      vectors.set(text, vector);
      return vector;
    },
  };
}
