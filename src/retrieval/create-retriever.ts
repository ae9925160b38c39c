import type { SearchMode } from '../domain/choices.ts';
import type { Query } from '../domain/query.ts';
import { isEmptyFilter } from '../domain/query.ts';
import {
  correctionSentence,
  createRetrievalContext,
  type RetrievalContext,
} from '../domain/retrieval-context.ts';
import type { ChunkStore, StoreHit } from '../ports/chunk-store.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Runtime } from '../ports/runtime.ts';
import { correctSpelling } from './correct-spelling.ts';
import { hitsWithRareNames } from './rare-names.ts';
import { letGuidesFirst } from './release-notes.ts';

/** Hits beyond the ones asked for, so that it can be said how many there are. */
const LOOK_AHEAD = 50;

interface RetrieverDependencies {
  store: ChunkStore;
  /** Asked for only when a query is embedded: full-text search loads no model. */
  embedder: () => Promise<Embedder>;
  /** From which score on a chunk counts as relevant. */
  scoreThreshold: number;
  mode: SearchMode;
  /** Of the machine unless given. */
  clock?: Clock | undefined;
}

export type Clock = Pick<Runtime, 'now' | 'elapsedMs'>;

export const machineClock: Clock = { now: () => new Date(), elapsedMs: () => performance.now() };

/** How a chunk was found. */
export interface RetrievalHit extends StoreHit {
  /** Its place before any reranking, from 1. */
  fusedRank: number;
  /** What a reranker gave it; null if none was asked, or it failed. */
  rerankScore: number | null;
}

export interface Retrieval {
  context: RetrievalContext;
  /** The hits behind the context's chunks, in the same order. */
  hits: RetrievalHit[];
}

export interface Retriever {
  retrieve(query: Query, signal?: AbortSignal): Promise<Retrieval>;
}

/** Query in, RetrievalContext out. */
export function createRetriever(dependencies: RetrieverDependencies): Retriever {
  const { store, embedder, mode, clock = machineClock } = dependencies;
  return {
    async retrieve(query, signal) {
      const started = clock.elapsedMs();
      const { scoreThreshold = dependencies.scoreThreshold } = query;
      const encoder = mode === 'lexical' ? null : await embedder();
      const isWord = encoder?.knowsWord?.bind(encoder) ?? null;
      const { text, corrections } = await correctSpelling(query.text, store, isWord);
      const vector = encoder === null ? null : await encoder.embedQuery(text, signal);
      const search = (filter: Query['filter']) =>
        store.search({
          text: mode === 'dense' ? null : text,
          vector,
          ...(encoder?.baseline !== undefined && { baseline: encoder.baseline }),
          limit: query.topK + LOOK_AHEAD,
          filter,
        });

      const found = letGuidesFirst(text, await search(query.filter));
      const below = found.filter((hit) => hit.score < scoreThreshold);
      const named = await hitsWithRareNames(text, below, store, isWord);
      const relevant = found.flatMap((hit) =>
        hit.score >= scoreThreshold ? [hit] : named.has(hit) ? [{ ...hit, score: scoreThreshold }] : [],
      );
      const hits = inStep(relevant)
        .slice(0, query.topK)
        .map((hit, index) => ({ ...hit, fusedRank: index + 1, rerankScore: null }));
      const nothing = relevant.length === 0;
      const withoutVector = mode === 'lexical' ? 0 : await store.withoutVector();
      const unfiltered = nothing && !isEmptyFilter(query.filter) ? await search({}) : [];
      return {
        hits,
        context: createRetrievalContext({
          query: query.text,
          filter: query.filter,
          chunks: hits.map(toRetrieved),
          totalFound: relevant.length,
          corrections,
          scoreThreshold,
          nearMiss: nothing && found[0] !== undefined ? toRetrieved(bestOf(found)) : null,
          excludedByFilter: unfiltered.filter((hit) => hit.score >= scoreThreshold).length,
          notes: [
            ...corrections.map(correctionSentence),
            ...(withoutVector === 0 ? [] : [notEmbedded(withoutVector)]),
          ],
          queryTimeMs: clock.elapsedMs() - started,
          retrievedAt: clock.now().toISOString(),
        }),
      };
    },
  };
}

/**
 * The order is made of words and meaning together, and a score may be of meaning alone: no hit is shown to score more than
 * one that comes before it.
 */
export function inStep<Hit extends StoreHit>(hits: readonly Hit[]): Hit[] {
  let most = 1;
  return hits.map((hit) => {
    most = Math.min(most, hit.score);
    return { ...hit, score: most };
  });
}

function notEmbedded(chunks: number): string {
  return (
    `${chunks} ${chunks === 1 ? 'passage of this collection has' : 'passages of this collection have'} no vector yet ` +
    'and can be found by words alone; an ingest that is under way, or run again, goes on with them.'
  );
}

function toRetrieved({ chunk, score }: StoreHit) {
  return { ...chunk, score };
}

function bestOf(hits: readonly StoreHit[]): StoreHit {
  return hits.reduce((best, hit) => (hit.score > best.score ? hit : best));
}
