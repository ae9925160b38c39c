import type { Query } from '../domain/query.ts';
import { isEmptyFilter } from '../domain/query.ts';
import { MAX_QUERY_TERMS } from '../domain/rank-hits.ts';
import { createRetrievalContext, type RetrievalContext } from '../domain/retrieval-context.ts';
import type { SearchMode } from '../domain/setting-choices.ts';
import type { ChunkStore, StoreHit } from '../ports/chunk-store.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Runtime } from '../ports/runtime.ts';
import { findContentWords } from '../text/content-words.ts';
import { detectForeignLanguage } from '../text/detect-language.ts';

/** At least this many hits are sought, so that `totalFound` can be reported. */
const MIN_HITS = 80;

interface RetrieverDependencies {
  store: ChunkStore;
  /** Called only when a query is embedded: text search loads no model. */
  embedder: () => Promise<Embedder>;
  /** Chunks with a lower score are not relevant. */
  scoreThreshold: number;
  mode: SearchMode;
  /** The system's unless given. */
  clock?: RetrievalClock | undefined;
}

export type RetrievalClock = Pick<Runtime, 'now' | 'elapsedMs'>;

export const systemRetrievalClock: RetrievalClock = {
  now: () => new Date(),
  elapsedMs: () => performance.now(),
};

export interface RankedHit extends StoreHit {
  /** Its rank before reranking, from 1. */
  fusedRank: number;
  /** Null if it was not reranked. */
  rerankScore: number | null;
}

export interface RetrievalResult {
  context: RetrievalContext;
  /** The hits behind the context's chunks, in the same order. */
  hits: RankedHit[];
}

export interface Retriever {
  retrieve(query: Query, signal?: AbortSignal): Promise<RetrievalResult>;
}

export function createRetriever(dependencies: RetrieverDependencies): Retriever {
  const { store, embedder, mode, clock = systemRetrievalClock } = dependencies;
  return {
    async retrieve(query, signal) {
      const started = clock.elapsedMs();
      const { scoreThreshold = dependencies.scoreThreshold } = query;
      const encoder = mode === 'lexical' ? null : await embedder();
      const vector = encoder === null ? null : await encoder.embedQuery(query.text, signal);
      const search = (filter: Query['filter']) =>
        store.search({
          text: mode === 'dense' ? null : query.text,
          vector,
          ...(encoder?.baseline !== undefined && { baseline: encoder.baseline }),
          limit: Math.max(query.topK, MIN_HITS),
          filter,
        });

      const found = await search(query.filter);
      const relevant = found.filter((hit) => hit.score >= scoreThreshold);
      const hits = capScoresByRank(relevant)
        .slice(0, query.topK)
        .map((hit, index) => ({ ...hit, fusedRank: index + 1, rerankScore: null }));
      const isEmpty = relevant.length === 0;
      const withoutVector = mode === 'lexical' ? 0 : await store.withoutVector();
      const unfiltered = isEmpty && !isEmptyFilter(query.filter) ? await search({}) : [];
      return {
        hits,
        context: createRetrievalContext({
          query: query.text,
          filter: query.filter,
          chunks: hits.map(toUnrankedChunk),
          totalFound: relevant.length,
          scoreThreshold,
          nearMiss: isEmpty && found[0] !== undefined ? toUnrankedChunk(highestScore(found)) : null,
          excludedByFilter: unfiltered.filter((hit) => hit.score >= scoreThreshold).length,
          notes: [
            ...(withoutVector === 0 ? [] : [notEmbeddedNote(withoutVector)]),
            ...(encoder?.isEnglishOnly ? foreignLanguageNotes(query.text) : []),
          ],
          absentWords: await findAbsentWords(store, query.text),
          queryTimeMs: clock.elapsedMs() - started,
          retrievedAt: clock.now().toISOString(),
        }),
      };
    },
  };
}

/** The content words of a query that no document contains, as written. */
async function findAbsentWords(store: ChunkStore, query: string): Promise<string[]> {
  const words = findContentWords(query)
    .filter(({ start, end }) => /\p{L}{3}/u.test(query.slice(start, end)))
    .slice(0, MAX_QUERY_TERMS);
  const terms = [...new Set(words.map(({ term }) => term))];
  const counts = terms.length === 0 ? undefined : await store.containing?.(terms);
  if (counts === undefined) return [];
  const absent = words.filter(({ term }) => !counts.has(term));
  return [...new Set(absent.map(({ start, end }) => query.slice(start, end)))];
}

/** Caps each score at the previous one: hits are ordered by fused score, but may have a higher vector score. */
export function capScoresByRank<Hit extends StoreHit>(hits: readonly Hit[]): Hit[] {
  let cap = 1;
  return hits.map((hit) => {
    cap = Math.min(cap, hit.score);
    return { ...hit, score: cap };
  });
}

export function toUnrankedChunk({ chunk, score }: StoreHit) {
  return { ...chunk, score };
}

function notEmbeddedNote(chunks: number): string {
  const passages = chunks === 1 ? 'passage has' : 'passages have';
  return `${chunks} ${passages} no vector yet and can only be found by words. Run ingest again to embed the rest.`;
}

function foreignLanguageNotes(question: string): string[] {
  const language = detectForeignLanguage(question);
  if (language === null) return [];
  return [
    `The question is in ${language}, but the built-in encoder knows only English. Ask in English, or ingest with another encoder.`,
  ];
}

function highestScore(hits: readonly StoreHit[]): StoreHit {
  return hits.reduce((best, hit) => (hit.score > best.score ? hit : best));
}
