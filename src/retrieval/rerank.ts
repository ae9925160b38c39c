import { MAX_QUERY_TOP_K } from '../domain/query.ts';
import { createRetrievalContext } from '../domain/retrieval-context.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import type { StoredChunk } from '../ports/chunk-store.ts';
import type { Reranker } from '../ports/reranker.ts';
import {
  type RetrievalClock,
  type RetrievalHit,
  type RetrievalResult,
  type Retriever,
  systemRetrievalClock,
  toRetrievedChunk,
} from './create-retriever.ts';

/** Hits that the reranker puts in a new order. */
const CANDIDATES = 50;

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
      const started = clock.elapsedMs();
      const elapsed = () => found.context.queryTimeMs + clock.elapsedMs() - started;
      try {
        const documents = found.hits.map(({ chunk }) => toDocument(chunk));
        const ranked = await reranker.rerank(query.text, documents, Math.min(topK, documents.length), signal);
        const hits = ranked.flatMap(({ index, score }) => {
          const hit = found.hits[index];
          return hit === undefined ? [] : [{ ...hit, score, rerankScore: score }];
        });
        const changes = { queryTimeMs: elapsed(), scoreThreshold: reranker.scoreThreshold };
        return replaceHits(found, hits, scoreThreshold, changes);
      } catch (error) {
        signal?.throwIfAborted();
        const notes = [...found.context.notes, notRerankedNote(error)];
        return replaceHits(found, found.hits.slice(0, topK), scoreThreshold, {
          queryTimeMs: elapsed(),
          notes,
        });
      }
    },
  };
}

/** A threshold in the query applies to the final scores. */
function replaceHits(
  { context }: RetrievalResult,
  found: readonly RetrievalHit[],
  queryThreshold: number | undefined,
  changes: { queryTimeMs: number; scoreThreshold?: number; notes?: string[] },
): RetrievalResult {
  if (queryThreshold === undefined) {
    const chunks = found.map(toRetrievedChunk);
    return { hits: [...found], context: createRetrievalContext({ ...context, ...changes, chunks }) };
  }
  const hits = found.filter(({ score }) => score >= queryThreshold);
  return {
    hits,
    context: createRetrievalContext({
      ...context,
      ...changes,
      chunks: hits.map(toRetrievedChunk),
      scoreThreshold: queryThreshold,
      totalFound: hits.length,
      nearMiss: hits.length === 0 ? (found.map(toRetrievedChunk)[0] ?? null) : null,
    }),
  };
}

/** The text with its title and headings. */
function toDocument({ title, headings, text }: StoredChunk): string {
  const path = [title, ...headings].filter((part) => part !== '').join(' > ');
  return path === '' ? text : `${path}\n${text}`;
}

export function notRerankedNote(error: unknown): string {
  const reason = error instanceof AppError ? error.message : `${messageOf(error)}.`;
  return `The results were not reranked. ${reason}`;
}
