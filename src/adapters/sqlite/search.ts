import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../domain/app-error.ts';
import { type RankedId, rankHits } from '../../domain/rank-hits.ts';
import type { StoreSearch } from '../../ports/chunk-store.ts';
import { byScore, type ScoredId } from './best-few.ts';
import { view } from './blob.ts';
import { filterCondition } from './filter-condition.ts';
import { type SqlCondition, searchFullText } from './full-text.ts';
import { cosine } from './quantize.ts';
import { createVectorIndex, type VectorIndex } from './vector-index.ts';

/** How many candidates each half of a search puts forward, at least. */
const CANDIDATES = 100;

/** Full text and vectors, each as far as it is asked for, joined into one order. To be called inside a `snapshot`. */
export function createSearch(
  database: DatabaseSync,
  dimensions: number,
): (request: StoreSearch) => RankedId<number>[] {
  // Made when first needed: searching the full text alone loads no vectors.
  let index: VectorIndex | undefined;

  function searchVectors(
    query: Float32Array,
    limit: number,
    condition: SqlCondition | null,
    others: readonly ScoredId[],
  ): ScoredId[] {
    if (query.length !== dimensions) throw wrongDimensions(query.length, dimensions);
    index ??= createVectorIndex(database, dimensions);
    const nearest = index.nearest(query, limit, condition && idsOf(database, condition));
    return rescore(database, query, [...new Set([...nearest, ...others].map(({ id }) => id))]);
  }

  return ({ text, vector, limit, filter }) => {
    const condition = filterCondition(filter);
    const candidates = Math.max(CANDIDATES, limit);
    const lexical = text === null ? null : searchFullText(database, text, candidates, condition);
    const dense = vector === null ? null : searchVectors(vector, candidates, condition, lexical ?? []);
    return rankHits(lexical, dense, limit);
  };
}

function idsOf(database: DatabaseSync, { sql, parameters }: SqlCondition): Set<number> {
  const rows = database.prepare(sql).all(...parameters);
  return new Set(rows.map((row) => Number(row.id)));
}

/** The true similarity of candidates, from the exact vectors. */
function rescore(database: DatabaseSync, query: Float32Array, ids: readonly number[]): ScoredId[] {
  return database
    .prepare('SELECT id, v FROM vector WHERE id IN (SELECT value FROM json_each(?))')
    .all(JSON.stringify(ids))
    .map((row) => ({ id: Number(row.id), score: cosine(query, view(Float32Array, row.v)) }))
    .sort(byScore);
}

function wrongDimensions(given: number, dimensions: number): AppError {
  return new AppError(
    'configuration_error',
    `The query has ${given} dimensions, but the collection holds vectors of ${dimensions}.`,
    { hint: 'Search with the embedder that the collection was made with: citeloop collections show' },
  );
}
