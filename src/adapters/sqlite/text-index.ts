import type { DatabaseSync } from 'node:sqlite';
import {
  lexicalScore,
  MAX_QUERY_TERMS,
  type ScoredId,
  termSaturation,
  weighTerms,
} from '../../domain/rank-hits.ts';
import { queryTerms } from '../../text/terms.ts';
import { type ChunkSegment, createChangeDetector, readSegments, SEGMENT_SIZE } from './chunk-segments.ts';
import { toTypedArray } from './database.ts';
import { TEXT_SEGMENTS } from './text-segments.ts';
import { TopKList } from './top-k.ts';

/** The chunks of one segment that have a term: pairs of position and count. */
interface Posting {
  term: string;
  pairs: Uint16Array;
}

/** Call inside `inSnapshot`: between two statements another process may merge segments. */
export function createTextIndex(database: DatabaseSync) {
  const hasChanged = createChangeDetector(database);
  const find = database.prepare(
    `SELECT segment, term, data FROM posting
     WHERE segment = ? AND term IN (SELECT value FROM json_each(?))`,
  );
  let segments: ChunkSegment[] = [];
  let total = 0;

  function refresh(): void {
    if (!hasChanged()) return;
    segments = readSegments(database, TEXT_SEGMENTS);
    total = segments.reduce((sum, { size, dead }) => sum + size - dead, 0);
  }

  /** The postings of the terms in each segment. */
  function readPostings(terms: readonly string[]): Posting[][] {
    const wanted = JSON.stringify(terms);
    return segments.map(({ id }) =>
      find
        .all(id, wanted)
        .map((row) => ({ term: String(row.term), pairs: toTypedArray(Uint16Array, row.data) })),
    );
  }

  function countChunks(postings: readonly Posting[][]): Map<string, number> {
    const counts = new Map<string, number>();
    postings.forEach((ofSegment, index) => {
      const { values, dead } = segments[index] as ChunkSegment;
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
    /** The terms that occur, with the number of chunks that have them. */
    containing(terms: readonly string[]): Map<string, number> {
      refresh();
      return countChunks(readPostings(terms));
    },

    /** The best chunks by BM25 among `allowed` chunk ids, scored in 0..1. */
    search(query: string, limit: number, allowed: ReadonlySet<number> | null): ScoredId<number>[] {
      const terms = queryTerms(query).slice(0, MAX_QUERY_TERMS);
      if (terms.length === 0) return [];
      refresh();
      const postings = readPostings(terms);
      const { weights, maxScore } = weighTerms(terms, countChunks(postings), total);
      if (weights.size === 0) return [];
      const best = new TopKList(limit);
      const scores = new Float64Array(SEGMENT_SIZE);
      postings.forEach((ofSegment, index) => {
        const { ids, values: lengths } = segments[index] as ChunkSegment;
        scores.fill(0);
        for (const { term, pairs } of ofSegment) {
          const weight = weights.get(term);
          if (weight === undefined) continue;
          for (let at = 0; at < pairs.length; at += 2) {
            const position = pairs[at] as number;
            const saturation = termSaturation(pairs[at + 1] as number, lengths[position] as number);
            scores[position] = (scores[position] as number) + weight * saturation;
          }
        }
        for (let position = 0; position < ids.length; position += 1) {
          const score = scores[position] as number;
          // Negated, because the score of a removed chunk is NaN.
          if (!(score > 0 && score >= best.floor)) continue;
          const id = ids[position] as number;
          if (allowed === null || allowed.has(id)) best.add(id, score);
        }
      });
      return best.sorted.map(({ id, score }) => ({ id, score: lexicalScore(score / maxScore) }));
    },
  };
}
