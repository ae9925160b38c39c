import { MAX_QUERY_TOP_K } from '../domain/query.ts';
import { createRetrievalContext } from '../domain/retrieval-context.ts';
import { toScore } from '../domain/retrieved-chunk.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import type { ChunkStore, StoredChunk, WeightedWords, WordScores } from '../ports/chunk-store.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Reranker } from '../ports/reranker.ts';
import { findContentWords } from '../text/content-words.ts';
import {
  capScoresByRank,
  type RankedHit,
  type RetrievalClock,
  type RetrievalResult,
  type Retriever,
  systemRetrievalClock,
  toUnrankedChunk,
} from './create-retriever.ts';
import { scoreWords } from './word-similarity.ts';

/** Hits that the reranker puts in a new order. */
const CANDIDATES = 50;
/** Hits whose words are compared with those of the query. */
const COMPARED_HITS = 30;
/** So are these nearest by meaning, which rank lower without a common word, if they are within the pool. */
const COMPARED_NEAREST = 10;
const POOL = 80;
/**
 * The weight of the words of the text beside those of the title and headings. Like the weight 1 of both beside the fused
 * score, chosen on `fixtures/questions` (decisions/0019).
 */
const TEXT_SHARE = 0.75;
/** Of words that every chunk has, so that a collection of one chunk compares all words alike. */
const MIN_WORD_WEIGHT = 1e-6;

/**
 * Adds a reranker to a retriever: the best of many candidates, with the reranker's scores. If the reranker fails, the
 * hits keep their order and the context's notes say so.
 */
export function withReranker(
  retriever: Retriever,
  reranker: Reranker,
  { clock = systemRetrievalClock }: { clock?: RetrievalClock } = {},
): Retriever {
  return {
    async retrieve(query, signal) {
      const { topK, scoreThreshold, ...rest } = query;
      const candidates = Math.min(MAX_QUERY_TOP_K, Math.max(topK, CANDIDATES));
      const found = await retriever.retrieve({ ...rest, topK: candidates }, signal);
      if (found.hits.length === 0) return found;
      return replaceHits(found, { topK, scoreThreshold, clock, signal }, async () => {
        const documents = found.hits.map(({ chunk }) => toDocument(chunk));
        const ranked = await reranker.rerank(query.text, documents, Math.min(topK, documents.length), signal);
        const hits = ranked.flatMap(({ index, score }) => {
          const hit = found.hits[index];
          return hit === undefined ? [] : [{ ...hit, score, rerankScore: score }];
        });
        return { hits, scoreThreshold: reranker.scoreThreshold };
      });
    },
  };
}

interface ReplaceOptions {
  topK: number;
  /** Applies to the final scores. */
  scoreThreshold?: number | undefined;
  clock: RetrievalClock;
  signal: AbortSignal | undefined;
}

/** If `rerank` fails, the first `topK` hits stay and a note says so. */
async function replaceHits(
  found: RetrievalResult,
  { topK, scoreThreshold: threshold, clock, signal }: ReplaceOptions,
  rerank: () => Promise<{ hits: RankedHit[]; scoreThreshold?: number; notes?: string[] }>,
): Promise<RetrievalResult> {
  const started = clock.elapsedMs();
  const { hits: ranked, ...changes } = await rerank().catch((error: unknown) => {
    signal?.throwIfAborted();
    const reason = error instanceof AppError ? error.message : `${messageOf(error)}.`;
    const notes = [...found.context.notes, `The results were not reranked. ${reason}`];
    return { hits: found.hits.slice(0, topK), notes };
  });
  const queryTimeMs = found.context.queryTimeMs + clock.elapsedMs() - started;
  const hits = threshold === undefined ? ranked : ranked.filter(({ score }) => score >= threshold);
  const chunks = hits.map(toUnrankedChunk);
  const ofThreshold = threshold !== undefined && {
    scoreThreshold: threshold,
    totalFound: hits.length,
    nearMiss: hits.length === 0 ? (ranked.map(toUnrankedChunk)[0] ?? null) : null,
  };
  const context = { ...found.context, ...changes, queryTimeMs, chunks, ...ofThreshold };
  return { hits, context: createRetrievalContext(context) };
}

/** The text with its title and headings. */
function toDocument({ title, headings, text }: StoredChunk): string {
  const path = [title, ...headings].filter((part) => part !== '').join(' > ');
  return path === '' ? text : `${path}\n${text}`;
}

interface WordRerankOptions {
  store: ChunkStore;
  embedder: () => Promise<Embedder>;
  /** Called once if the collection has no word vectors. */
  onMissing?: () => void;
  clock?: RetrievalClock | undefined;
}

/**
 * Reorders the best hits by the similarity of their words to those of the query. Their score is then the mean of the fused
 * score and that similarity; a threshold applies to the score before. Hits of a collection without word vectors keep
 * their order and score.
 */
export function withWordReranker(
  retriever: Retriever,
  { store, embedder, onMissing, clock = systemRetrievalClock }: WordRerankOptions,
): Retriever {
  let isReported = false;

  async function reorder(text: string, hits: readonly RankedHit[], signal?: AbortSignal) {
    const [query] = (await (await embedder()).embedWords?.([text], signal)) ?? [];
    const terms = findContentWords(text).map(({ term }) => term);
    if (query === undefined || terms.length === 0 || hits.length === 0) return [...hits];
    const isCompared = ({ dense }: RankedHit, index: number) =>
      index < COMPARED_HITS || (dense !== null && dense.rank <= COMPARED_NEAREST);
    const candidates = hits.filter(isCompared);
    const [total, counts] = await Promise.all([store.count({}), store.containing?.(terms)]);
    const weightOf = (count: number) => Math.max(MIN_WORD_WEIGHT, Math.log((total + 1) / (count + 1)));
    const weights = terms.map((term) => weightOf(counts?.get(term) ?? 0));
    const words = { vectors: query.words, weights };
    const scores = await scoreChunks(
      words,
      candidates.map(({ chunk }) => chunk.chunkId),
    );
    if (scores.size === 0) {
      if (!isReported) onMissing?.();
      isReported = true;
      return [...hits];
    }
    const ranked = candidates
      .map((hit) => {
        const rerankScore = toRerankScore(scores.get(hit.chunk.chunkId));
        return { ...hit, rerankScore, score: toScore((hit.fusedScore + rerankScore) / 2) };
      })
      .sort((a, b) => b.score - a.score);
    const others = hits.filter((hit, index) => !isCompared(hit, index));
    return capScoresByRank([...ranked, ...others]);
  }

  async function scoreChunks(
    query: WeightedWords,
    chunkIds: readonly string[],
  ): Promise<Map<string, WordScores>> {
    if (store.scoreWords !== undefined) return store.scoreWords(query, chunkIds);
    const vectors = await store.wordVectors(chunkIds);
    return new Map(
      [...vectors].map(([chunkId, { text, path }]) => [
        chunkId,
        { text: scoreWords(query, text), path: scoreWords(query, path) },
      ]),
    );
  }

  return {
    async retrieve(query, signal) {
      const found = await retriever.retrieve({ ...query, topK: Math.max(query.topK, POOL) }, signal);
      return replaceHits(found, { topK: query.topK, clock, signal }, async () => {
        const hits = await reorder(found.context.query, found.hits, signal);
        return { hits: hits.slice(0, query.topK) };
      });
    },
  };
}

function toRerankScore({ text, path }: WordScores = { text: 0, path: 0 }): number {
  return TEXT_SHARE * text + (1 - TEXT_SHARE) * path;
}
