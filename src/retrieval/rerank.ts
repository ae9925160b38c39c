import { MAX_QUERY_TOP_K } from '../domain/query.ts';
import { createRetrievalContext } from '../domain/retrieval-context.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import type { StoredChunk } from '../ports/chunk-store.ts';
import type { Reranker } from '../ports/reranker.ts';
import {
  type Clock,
  machineClock,
  type Retrieval,
  type RetrievalHit,
  type Retriever,
} from './create-retriever.ts';

interface RerankOptions {
  /** How many hits are put in order anew. */
  candidates?: number;
  /** From which score on a reranked chunk counts as relevant; the reranker's own unless given. */
  scoreThreshold?: number;
  /** Told when reranking failed. */
  onNotice?: ((notice: string) => void) | undefined;
  /** Of the machine unless given. */
  clock?: Clock | undefined;
}

/**
 * A retriever whose hits a reranker has put in order: the best of many candidates, with its scores. What passes the
 * threshold of the embedder stays; how the hits were found stays with them. When the reranker fails, the hits come
 * in the order they were found in, and the context says so in its notes.
 */
export function withReranker(
  retriever: Retriever,
  reranker: Reranker,
  { candidates = 50, scoreThreshold, onNotice, clock = machineClock }: RerankOptions = {},
): Retriever {
  return {
    async retrieve(query, signal) {
      const { topK, scoreThreshold: wanted, ...rest } = query;
      const wide = Math.min(MAX_QUERY_TOP_K, Math.max(topK, candidates));
      const found = await retriever.retrieve({ ...rest, topK: wide }, signal);
      if (found.hits.length === 0) return found;
      const started = clock.elapsedMs();
      const elapsed = () => found.context.queryTimeMs + clock.elapsedMs() - started;
      try {
        const documents = found.hits.map(({ chunk }) => documentOf(chunk));
        const ranked = await reranker.rerank(query.text, documents, Math.min(topK, documents.length), signal);
        const hits = ranked.flatMap(({ index, score }) => {
          const hit = found.hits[index];
          return hit === undefined ? [] : [{ ...hit, score, rerankScore: score }];
        });
        return withHits(found, hits, wanted, {
          queryTimeMs: elapsed(),
          scoreThreshold: scoreThreshold ?? reranker.scoreThreshold,
        });
      } catch (error) {
        signal?.throwIfAborted();
        const notice = noticeOf(error);
        onNotice?.(notice);
        const notes = [...found.context.notes, notice];
        return withHits(found, found.hits.slice(0, topK), wanted, { queryTimeMs: elapsed(), notes });
      }
    },
  };
}

/** What the query wants is told by the scores that the hits have in the end. */
function withHits(
  { context }: Retrieval,
  found: readonly RetrievalHit[],
  wanted: number | undefined,
  changes: { queryTimeMs: number; scoreThreshold?: number; notes?: string[] },
): Retrieval {
  const toChunk = ({ chunk, score }: RetrievalHit) => ({ ...chunk, score });
  if (wanted === undefined) {
    const chunks = found.map(toChunk);
    return { hits: [...found], context: createRetrievalContext({ ...context, ...changes, chunks }) };
  }
  const hits = found.filter(({ score }) => score >= wanted);
  return {
    hits,
    context: createRetrievalContext({
      ...context,
      ...changes,
      chunks: hits.map(toChunk),
      scoreThreshold: wanted,
      totalFound: hits.length,
      nearMiss: hits.length === 0 ? (found.map(toChunk)[0] ?? null) : null,
    }),
  };
}

/** A passage with the place it stands in, as a reader would see it. */
function documentOf({ title, headings, text }: StoredChunk): string {
  const place = [title, ...headings].filter((part) => part !== '').join(' > ');
  return place === '' ? text : `${place}\n${text}`;
}

function noticeOf(error: unknown): string {
  const reason = error instanceof AppError ? error.message : `${messageOf(error)}.`;
  return `The results were not reranked. ${reason}`;
}
