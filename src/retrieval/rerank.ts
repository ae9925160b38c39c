import { MAX_QUERY_TOP_K } from '../domain/query.ts';
import { createRetrievalContext } from '../domain/retrieval-context.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import type { ChunkStore, StoredChunk } from '../ports/chunk-store.ts';
import type { Reranker } from '../ports/reranker.ts';
import { queryTerms } from '../text/terms.ts';
import {
  capScoresByRank,
  type RetrievalClock,
  type RetrievalHit,
  type RetrievalResult,
  type Retriever,
  systemRetrievalClock,
  toRetrievedChunk,
} from './create-retriever.ts';

/** Hits that the reranker puts in a new order. */
const CANDIDATES = 50;
/** Encoding ten passages takes a third of a second; later ones rarely move up. */
const COMPARED_PASSAGES = 10;
/** The weight of the similarity of words beside the fused score. */
const SIMILARITY_WEIGHT = 0.5;

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
  rerank: () => Promise<{ hits: RetrievalHit[]; scoreThreshold?: number; notes?: string[] }>,
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
  const chunks = hits.map(toRetrievedChunk);
  const ofThreshold = threshold !== undefined && {
    scoreThreshold: threshold,
    totalFound: hits.length,
    nearMiss: hits.length === 0 ? (ranked.map(toRetrievedChunk)[0] ?? null) : null,
  };
  const context = { ...found.context, ...changes, queryTimeMs, chunks, ...ofThreshold };
  return { hits, context: createRetrievalContext(context) };
}

/** The text with its title and headings. */
function toDocument({ title, headings, text }: StoredChunk): string {
  const path = [title, ...headings].filter((part) => part !== '').join(' > ');
  return path === '' ? text : `${path}\n${text}`;
}

/** Returns the similarity of each passage to the question, word by word, in -1..1. `weightOf` weighs a query term. */
export type ScoreWordSimilarity = (
  question: string,
  passages: readonly StoredChunk[],
  weightOf: (term: string) => number,
  signal?: AbortSignal,
) => Promise<number[]>;

interface NearnessOptions {
  store: ChunkStore;
  /** Null if no encoder is available: then nothing is reranked. */
  nearness: () => Promise<ScoreWordSimilarity | null>;
  clock?: RetrievalClock | undefined;
}

/**
 * Reorders the best hits by the similarity of their words to those of the question. Scores stay, but no hit scores
 * higher than an earlier one. On failure the order stays and the context's notes say so.
 */
export function rerankByNearness(
  retriever: Retriever,
  { store, nearness, clock = systemRetrievalClock }: NearnessOptions,
): Retriever {
  async function reorder(text: string, hits: readonly RetrievalHit[], signal?: AbortSignal) {
    const findNearness = await nearness();
    if (findNearness === null) return [...hits];
    const candidates = hits.slice(0, COMPARED_PASSAGES);
    const passages = candidates.map(({ chunk }) => chunk);
    const [total, counts] = await Promise.all([store.count({}), store.containing?.(queryTerms(text))]);
    const rarity = (term: string) => Math.log((total + 1) / ((counts?.get(term) ?? 0) + 1));
    const similarities = await findNearness(text, passages, rarity, signal);
    const ranked = candidates
      .map((hit, index) => ({ ...hit, rerankScore: similarities[index] ?? 0 }))
      .sort((a, b) => combinedScore(b) - combinedScore(a));
    return capScoresByRank([...ranked, ...hits.slice(COMPARED_PASSAGES)]);
  }

  return {
    async retrieve(query, signal) {
      const found = await retriever.retrieve(
        { ...query, topK: Math.max(query.topK, COMPARED_PASSAGES) },
        signal,
      );
      return replaceHits(found, { topK: query.topK, clock, signal }, async () => {
        const hits = await reorder(found.context.query, found.hits, signal);
        return { hits: hits.slice(0, query.topK) };
      });
    },
  };
}

function combinedScore({ fusedScore, rerankScore }: RetrievalHit): number {
  return fusedScore + SIMILARITY_WEIGHT * Math.max(0, rerankScore ?? 0);
}
