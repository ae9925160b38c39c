import type { DatabaseSync } from 'node:sqlite';
import { wrongDimensionsError } from '../../domain/collection-identity.ts';
import type { Filter } from '../../domain/query.ts';
import { MIN_CANDIDATES, type RankedId, rankHits, type ScoredId } from '../../domain/rank-hits.ts';
import { dotProduct } from '../../domain/unit-vectors.ts';
import { createVectorScan } from '../../domain/vector-scan.ts';
import type { StoreSearchRequest } from '../../ports/chunk-store.ts';
import { type ChunkSegment, createChangeDetector, readSegments, SEGMENT_SIZE } from './chunk-segments.ts';
import { toTypedArray } from './database.ts';
import { createTextIndex } from './text-index.ts';
import { compareByScore, TopKList } from './top-k.ts';
import { paddedDimensions, quantizeVector, VECTOR_SEGMENTS } from './vector-segments.ts';

/** The columns that a filter may name; other keys are metadata. */
const FILTER_COLUMNS = new Set(['module', 'chapter', 'title', 'url', 'uri']);

/** Ranks text and vector matches together. Must be used inside a snapshot. */
export function createChunkSearch(database: DatabaseSync, dimensions: number) {
  const textIndex = createTextIndex(database);
  const readExact = database.prepare('SELECT id, v FROM vector WHERE id IN (SELECT value FROM json_each(?))');
  // Created on first use: a text search loads no vectors.
  let vectorIndex: ReturnType<typeof createVectorIndex> | undefined;

  /** The nearest chunks and the lexical ones, scored with their exact vectors. */
  function searchVectors(
    query: Float32Array,
    limit: number,
    allowed: ReadonlySet<number> | null,
    lexical: readonly ScoredId<number>[],
  ): ScoredId<number>[] {
    if (query.length !== dimensions) throw wrongDimensionsError(query.length, dimensions);
    vectorIndex ??= createVectorIndex(database, dimensions);
    const nearest = vectorIndex(query, limit, allowed);
    const ids = new Set([...nearest, ...lexical].map(({ id }) => id));
    return readExact
      .all(JSON.stringify([...ids]))
      .map((row) => ({ id: Number(row.id), score: dotProduct(query, toTypedArray(Float32Array, row.v)) }))
      .sort(compareByScore);
  }

  return {
    search({ text, vector, baseline, limit, filter }: StoreSearchRequest): RankedId<number>[] {
      const condition = toSqlCondition(filter);
      const rows = condition && database.prepare(condition.sql).all(...condition.parameters);
      const allowed = rows && new Set(rows.map((row) => Number(row.id)));
      const candidates = Math.max(MIN_CANDIDATES, limit);
      const lexical = text === null ? null : textIndex.search(text, candidates, allowed);
      const dense = vector === null ? null : searchVectors(vector, candidates, allowed, lexical ?? []);
      return rankHits(lexical, dense, limit, baseline);
    },
    containing: textIndex.containing,
    termsFrom: textIndex.termsFrom,
    total: textIndex.total,
  };
}

interface SqlCondition {
  sql: string;
  parameters: string[];
}

/** A query for the ids of the chunks that pass a filter; null if the filter is empty. */
export function toSqlCondition(filter: Filter): SqlCondition | null {
  const entries = Object.entries(filter);
  if (entries.length === 0) return null;
  const parameters: string[] = [];
  const tests = entries.map(([key, values]) => {
    const column = FILTER_COLUMNS.has(key) ? `document.${key}` : 'document.metadata ->> ?';
    if (!FILTER_COLUMNS.has(key)) parameters.push(`$.${JSON.stringify(key)}`);
    parameters.push(...values);
    return `${column} IN (${values.map(() => '?').join()})`;
  });
  return {
    sql: `SELECT chunk.id FROM chunk JOIN document ON document.id = chunk.document_id WHERE ${tests.join(' AND ')}`,
    parameters,
  };
}

/**
 * Returns a function that finds the nearest chunks by quantized similarity, best first, among `allowed` chunk ids. The
 * first search reads segments one at a time without keeping them, because many processes search once; later searches
 * keep them in memory and read only what has changed. Must be used inside a snapshot: between two statements another
 * process may merge segments.
 */
function createVectorIndex(database: DatabaseSync, dimensions: number) {
  const width = paddedDimensions(dimensions);
  const slotBytes = SEGMENT_SIZE * width;
  const outOffset = 0;
  const queryOffset = SEGMENT_SIZE * 4;
  const slotsOffset = queryOffset + width;
  const { memory, scan } = createVectorScan();
  const hasChanged = createChangeDetector(database);
  const readVectors = database.prepare('SELECT q FROM segment WHERE id = ?');
  /** The id of the segment in each slot of the memory. */
  const slots: (number | null)[] = [];
  let segments: ChunkSegment[] = [];
  let keepsSegments = false;

  function refresh(): void {
    if (!hasChanged()) return;
    segments = readSegments(database, VECTOR_SEGMENTS);
    const present = new Set(segments.map(({ id }) => id));
    slots.forEach((id, slot) => {
      if (id !== null && !present.has(id)) slots[slot] = null;
    });
  }

  /** Loads a segment into the memory, unless it is there, and returns its offset. */
  function load(id: number): number {
    const loaded = slots.indexOf(id);
    if (loaded >= 0) return slotsOffset + loaded * slotBytes;
    const free = slots.indexOf(null);
    const slot = free >= 0 ? free : slots.length;
    const offset = slotsOffset + slot * slotBytes;
    const vectors = toTypedArray(Int8Array, readVectors.get(id)?.q);
    new Int8Array(memory(offset + slotBytes), offset, slotBytes).set(vectors);
    slots[slot] = keepsSegments ? id : null;
    return offset;
  }

  return (query: Float32Array, limit: number, allowed: ReadonlySet<number> | null): ScoredId<number>[] => {
    refresh();
    const { values, scale: queryScale } = quantizeVector(query);
    new Int8Array(memory(slotsOffset), queryOffset, width).set(values);
    const best = new TopKList(limit);
    for (const { id, size, ids, values: scales } of segments) {
      scan(load(id), size, width, queryOffset, outOffset);
      // A new view: the memory may have grown.
      const products = new Int32Array(memory(slotsOffset), outOffset, SEGMENT_SIZE);
      for (let i = 0; i < size; i += 1) {
        const score = (products[i] ?? 0) * (scales[i] ?? Number.NaN) * queryScale;
        // Negated, because the score of a removed vector is NaN.
        if (!(score >= best.floor)) continue;
        const chunkId = ids[i] ?? 0;
        if (allowed === null || allowed.has(chunkId)) best.add(chunkId, score);
      }
    }
    keepsSegments = true;
    return best.sorted;
  };
}
