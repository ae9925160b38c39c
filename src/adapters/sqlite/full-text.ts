import type { DatabaseSync } from 'node:sqlite';
import {
  COMMON_SHARE,
  LARGE_COLLECTION,
  lexicalScore,
  MOST_TERMS,
  type ScoredId,
  termSaturation,
  termWorth,
} from '../../domain/rank-hits.ts';
import { queryTerms } from '../../text/terms.ts';
import { BestFew } from './best-few.ts';
import { view } from './database.ts';
import { createChangeWatch, readSegments, SEGMENT_SIZE, type Segment } from './segments.ts';
import { TERM_SEGMENTS } from './term-segments.ts';

/** The postings of one term in one segment: places of chunks in it, each with how often it has the term. */
interface Posting {
  term: string;
  pairs: Uint16Array;
}

export interface FullText {
  /**
   * The best chunks by BM25. The score is the share of what the query's terms are worth, in 0..1. `allowed` restricts
   * them to a set of chunk ids.
   */
  search(query: string, limit: number, allowed: ReadonlySet<number> | null): ScoredId<number>[];
  /** Those of some terms that chunks have, with how many have them. */
  containing(terms: readonly string[]): Map<string, number>;
}

/** To be used inside a `snapshot`: between two statements another process may merge segments. */
export function createFullText(database: DatabaseSync): FullText {
  const hasChanged = createChangeWatch(database);
  const find = database.prepare(
    `SELECT segment, term, data FROM posting
     WHERE segment = ? AND term IN (SELECT value FROM json_each(?))`,
  );
  let segments: Segment[] = [];
  let total = 0;
  let averageLength = 1;

  function refresh(): void {
    if (!hasChanged()) return;
    segments = readSegments(database, TERM_SEGMENTS);
    total = 0;
    let length = 0;
    for (const { values } of segments) {
      for (const value of values) {
        if (Number.isNaN(value)) continue;
        total += 1;
        length += value;
      }
    }
    averageLength = Math.max(1, length) / Math.max(1, total);
  }

  /** By segment. */
  function postingsOf(terms: readonly string[]): Posting[][] {
    const wanted = JSON.stringify(terms);
    return segments.map(({ id }) =>
      find.all(id, wanted).map((row) => ({ term: String(row.term), pairs: view(Uint16Array, row.data) })),
    );
  }

  function count(postings: readonly Posting[][]): Map<string, number> {
    const counts = new Map<string, number>();
    postings.forEach((ofSegment, index) => {
      const { values, dead } = segments[index] as Segment;
      for (const { term, pairs } of ofSegment) {
        let live = pairs.length / 2;
        if (dead > 0) {
          for (let at = 0; at < pairs.length; at += 2) {
            if (Number.isNaN(values[pairs[at] as number])) live -= 1;
          }
        }
        if (live > 0) counts.set(term, (counts.get(term) ?? 0) + live);
      }
    });
    return counts;
  }

  return {
    containing(terms) {
      refresh();
      return count(postingsOf(terms));
    },

    search(query, limit, allowed) {
      const terms = queryTerms(query);
      if (terms.length === 0) return [];
      refresh();
      const postings = postingsOf(terms);
      const { worths, worth } = weigh(terms, count(postings), total);
      if (worths.size === 0) return [];
      const best = new BestFew(limit);
      const scores = new Float64Array(SEGMENT_SIZE);
      postings.forEach((ofSegment, index) => {
        const { ids, values } = segments[index] as Segment;
        scores.fill(0);
        for (const { term, pairs } of ofSegment) {
          const worthOfTerm = worths.get(term);
          if (worthOfTerm !== undefined) addScores(scores, pairs, values, worthOfTerm, averageLength);
        }
        for (let place = 0; place < ids.length; place += 1) {
          const score = scores[place] as number;
          // Not the other way round: the score of a removed chunk is NaN, which is not above anything.
          if (!(score > 0 && score >= best.floor)) continue;
          const id = ids[place] as number;
          if (allowed === null || allowed.has(id)) best.offer(id, score);
        }
      });
      return best.sorted().map(({ id, score }) => ({ id, score: lexicalScore(score / worth) }));
    },
  };
}

/** What each of the terms to look for is worth, and what a chunk of ordinary length that has each of them once would score. */
function weigh(
  terms: readonly string[],
  containing: ReadonlyMap<string, number>,
  total: number,
): { worths: Map<string, number>; worth: number } {
  const isCommon = (term: string) =>
    total >= LARGE_COLLECTION && (containing.get(term) ?? 0) > total * COMMON_SHARE;
  const telling = terms.filter((term) => !isCommon(term));
  const weighed = (telling.length > 0 ? telling : terms).map((term) => ({
    term,
    worth: termWorth(total, containing.get(term) ?? 0),
  }));
  const found = weighed
    .filter(({ term }) => containing.has(term))
    .sort((a, b) => b.worth - a.worth)
    .slice(0, MOST_TERMS);
  return {
    worths: new Map(found.map(({ term, worth }) => [term, worth])),
    worth: weighed.reduce((sum, { worth }) => sum + worth, 0),
  };
}

/** Adds what a term is worth to each chunk that has it. */
function addScores(
  scores: Float64Array,
  pairs: Uint16Array,
  lengths: Float32Array,
  worth: number,
  averageLength: number,
): void {
  for (let at = 0; at < pairs.length; at += 2) {
    const place = pairs[at] as number;
    const count = pairs[at + 1] as number;
    const saturation = termSaturation(count, lengths[place] as number, averageLength);
    scores[place] = (scores[place] as number) + worth * saturation;
  }
}
