import { createRetrievalContext, searchedFor } from '../domain/retrieval-context.ts';
import { messageOf } from '../faults/app-error.ts';
import type { ChunkStore, StoredChunk } from '../ports/chunk-store.ts';
import { queryTerms } from '../text/terms.ts';
import { type Clock, inStep, machineClock, type RetrievalHit, type Retriever } from './create-retriever.ts';

/** How near each passage is to a question, word by word, from -1 to 1; `weightOf` says how much a term of it counts. */
export type FindNearness = (
  question: string,
  passages: readonly StoredChunk[],
  weightOf: (term: string) => number,
  signal?: AbortSignal,
) => Promise<number[]>;

/** What is read in a third of a second; passages further down are seldom worth the wait. */
const READ = 10;
/** How much nearness counts beside what a hit was found by. */
const WEIGHT = 0.5;

interface NearnessOptions {
  store: ChunkStore;
  /** Null where nobody can tell: then all stays as it was found. */
  nearness: () => Promise<FindNearness | null>;
  clock?: Clock | undefined;
}

/**
 * A retriever whose best hits are put in order by how near their words are to those of the question. What is found stays,
 * and what it scores too, but that nothing scores more than what comes before it. If that fails, the order stays and the
 * context says so.
 */
export function rerankByNearness(
  retriever: Retriever,
  { store, nearness, clock = machineClock }: NearnessOptions,
): Retriever {
  async function ordered(text: string, hits: readonly RetrievalHit[], signal?: AbortSignal) {
    const find = await nearness();
    if (find === null) return [...hits];
    const read = hits.slice(0, READ);
    const [total, counts] = await Promise.all([store.count({}), store.containing?.(queryTerms(text))]);
    // The rarer a word is, the more it says where the answer is.
    const weightOf = (term: string) => Math.log((total + 1) / ((counts?.get(term) ?? 0) + 1));
    const near = await find(
      text,
      read.map(({ chunk }) => chunk),
      weightOf,
      signal,
    );
    const ranked = read
      .map((hit, index) => ({ ...hit, rerankScore: near[index] ?? 0 }))
      .sort((a, b) => orderOf(b) - orderOf(a));
    return inStep([...ranked, ...hits.slice(READ)]);
  }

  return {
    async retrieve(query, signal) {
      const found = await retriever.retrieve({ ...query, topK: Math.max(query.topK, READ) }, signal);
      const started = clock.elapsedMs();
      const { context } = found;
      let { hits } = found;
      let { notes } = context;
      try {
        hits = await ordered(searchedFor(context), hits, signal);
      } catch (error) {
        signal?.throwIfAborted();
        notes = [...notes, `The results were not reranked. ${messageOf(error)}.`];
      }
      hits = hits.slice(0, query.topK);
      const chunks = hits.map(({ chunk, score }) => ({ ...chunk, score }));
      const queryTimeMs = context.queryTimeMs + clock.elapsedMs() - started;
      return { hits, context: createRetrievalContext({ ...context, notes, chunks, queryTimeMs }) };
    },
  };
}

function orderOf({ fusedScore, rerankScore }: RetrievalHit): number {
  return fusedScore + WEIGHT * Math.max(0, rerankScore ?? 0);
}
