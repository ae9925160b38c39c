import { createRetrievalContext } from '../domain/retrieval-context.ts';
import type { ChunkStore, StoredChunk } from '../ports/chunk-store.ts';
import { queryTerms } from '../text/terms.ts';
import {
  capScoresByRank,
  type RetrievalClock,
  type RetrievalHit,
  type Retriever,
  systemRetrievalClock,
  toRetrievedChunk,
} from './create-retriever.ts';
import { notRerankedNote } from './rerank.ts';

/** Returns the similarity of each passage to the question, word by word, in -1..1. `weightOf` weighs a query term. */
export type ScoreWordSimilarity = (
  question: string,
  passages: readonly StoredChunk[],
  weightOf: (term: string) => number,
  signal?: AbortSignal,
) => Promise<number[]>;

/** Encoding ten passages takes a third of a second; later ones rarely move up. */
const CANDIDATES = 10;
/** The weight of the similarity beside the fused score. */
const WEIGHT = 0.5;

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
    const candidates = hits.slice(0, CANDIDATES);
    const passages = candidates.map(({ chunk }) => chunk);
    const [total, counts] = await Promise.all([store.count({}), store.containing?.(queryTerms(text))]);
    const rarity = (term: string) => Math.log((total + 1) / ((counts?.get(term) ?? 0) + 1));
    const similarities = await findNearness(text, passages, rarity, signal);
    const ranked = candidates
      .map((hit, index) => ({ ...hit, rerankScore: similarities[index] ?? 0 }))
      .sort((a, b) => combinedScore(b) - combinedScore(a));
    return capScoresByRank([...ranked, ...hits.slice(CANDIDATES)]);
  }

  return {
    async retrieve(query, signal) {
      const found = await retriever.retrieve({ ...query, topK: Math.max(query.topK, CANDIDATES) }, signal);
      const started = clock.elapsedMs();
      const { context } = found;
      let { hits } = found;
      let { notes } = context;
      try {
        hits = await reorder(context.query, hits, signal);
      } catch (error) {
        signal?.throwIfAborted();
        notes = [...notes, notRerankedNote(error)];
      }
      hits = hits.slice(0, query.topK);
      const chunks = hits.map(toRetrievedChunk);
      const queryTimeMs = context.queryTimeMs + clock.elapsedMs() - started;
      return { hits, context: createRetrievalContext({ ...context, notes, chunks, queryTimeMs }) };
    },
  };
}

function combinedScore({ fusedScore, rerankScore }: RetrievalHit): number {
  return fusedScore + WEIGHT * Math.max(0, rerankScore ?? 0);
}
