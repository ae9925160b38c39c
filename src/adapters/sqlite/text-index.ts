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

/** Counts that are kept in memory. */
const MAX_COUNTED_TERMS = 10_000;

/** Call inside `inSnapshot`: between two statements another process may merge segments. */
export function createTextIndex(database: DatabaseSync) {
  const hasChanged = createChangeDetector(database);
  const find = database.prepare(
    'SELECT term, data FROM posting WHERE segment = ? AND term IN (SELECT value FROM json_each(?))',
  );
  const list = database.prepare('SELECT term FROM posting WHERE segment = ? AND term >= ? AND term < ?');
  let segments: ChunkSegment[] = [];
  let total = 0;
  /** The number of chunks that have a term, for terms that were read since the last change. */
  const counts = new Map<string, number>();

  function refresh(): void {
    if (!hasChanged()) return;
    segments = readSegments(database, TEXT_SEGMENTS);
    total = segments.reduce((sum, { size, dead }) => sum + size - dead, 0);
    counts.clear();
  }

  /** The postings of the terms in each segment. */
  function readPostings(terms: readonly string[]): Posting[][] {
    if (terms.length === 0) return segments.map(() => []);
    const wanted = JSON.stringify(terms);
    return segments.map(({ id }) =>
      find
        .all(id, wanted)
        .map((row) => ({ term: String(row.term), pairs: toTypedArray(Uint16Array, row.data) })),
    );
  }

  /** Reads and counts the terms that have no count yet. */
  function readUncounted(terms: readonly string[]): Posting[][] {
    if (counts.size > MAX_COUNTED_TERMS) counts.clear();
    const uncounted = terms.filter((term) => !counts.has(term));
    const postings = readPostings(uncounted);
    for (const term of uncounted) counts.set(term, 0);
    postings.forEach((ofSegment, index) => {
      for (const { term, pairs } of ofSegment) {
        counts.set(term, (counts.get(term) ?? 0) + countLive(pairs, segments[index] as ChunkSegment));
      }
    });
    return postings;
  }

  return {
    /** The number of chunks. */
    total(): number {
      refresh();
      return total;
    },

    /** The terms that occur, with the number of chunks that have them. */
    containing(terms: readonly string[]): Map<string, number> {
      refresh();
      readUncounted(terms);
      const found = terms.map((term) => [term, counts.get(term) ?? 0] as const);
      return new Map(found.filter(([, chunks]) => chunks > 0));
    },

    /** The terms that start with `prefix`, of removed chunks too. */
    termsFrom(prefix: string): string[] {
      refresh();
      const rows = segments.flatMap(({ id }) => list.all(id, prefix, `${prefix}\u{10ffff}`));
      return [...new Set(rows.map(({ term }) => String(term)))].sort();
    },

    /** The best chunks by BM25 among `allowed` chunk ids, scored in 0..1. */
    search(query: string, limit: number, allowed: ReadonlySet<number> | null): ScoredId<number>[] {
      const terms = queryTerms(query).slice(0, MAX_QUERY_TERMS);
      if (terms.length === 0) return [];
      refresh();
      const counted = terms.filter((term) => counts.has(term));
      const uncounted = readUncounted(terms);
      const { weights, maxScore } = weighTerms(terms, counts, total);
      if (weights.size === 0) return [];
      // Those of terms that are too common to weigh are not read again.
      const postings = readPostings(counted.filter((term) => weights.has(term)));
      const best = new TopKList(limit);
      const scores = new Float64Array(SEGMENT_SIZE);
      segments.forEach(({ ids, values: lengths }, index) => {
        scores.fill(0);
        for (const { term, pairs } of [...(uncounted[index] ?? []), ...(postings[index] ?? [])]) {
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

function countLive(pairs: Uint16Array, { values, dead }: ChunkSegment): number {
  if (dead === 0) return pairs.length / 2;
  let live = 0;
  for (let at = 0; at < pairs.length; at += 2) {
    if (!Number.isNaN(values[pairs[at] as number])) live += 1;
  }
  return live;
}
