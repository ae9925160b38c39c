import type { DatabaseSync } from 'node:sqlite';
import { wrongDimensions } from '../../domain/collection-identity.ts';
import type { Filter } from '../../domain/query.ts';
import { CANDIDATES, type RankedId, rankHits, type ScoredId } from '../../domain/rank-hits.ts';
import { dotProduct } from '../../domain/unit-vectors.ts';
import type { StoreSearch } from '../../ports/chunk-store.ts';
import { BestFew, byScore } from './best-few.ts';
import { view } from './database.ts';
import { createDotProduct } from './dot-product.ts';
import { createFullText } from './full-text.ts';
import { paddedDimensions, quantize } from './quantize.ts';
import { createChangeWatch, readSegments, SEGMENT_SIZE, type Segment } from './segments.ts';
import { VECTOR_SEGMENTS } from './vector-segments.ts';

/** What a filter may name besides metadata. */
const COLUMNS = new Set(['module', 'chapter', 'title', 'url', 'uri']);

interface Search {
  /** Full text and vectors, each as far as it is asked for, joined into one order. */
  search(request: StoreSearch): RankedId<number>[];
  /** Those of some terms that chunks have, with how many have them. */
  containing(terms: readonly string[]): Map<string, number>;
}

/** To be used inside a `snapshot`. */
export function createSearch(database: DatabaseSync, dimensions: number): Search {
  const fullText = createFullText(database);
  // Made when first needed: searching the full text alone loads no vectors.
  let index: VectorIndex | undefined;

  function searchVectors(
    query: Float32Array,
    limit: number,
    allowed: ReadonlySet<number> | null,
    others: readonly ScoredId<number>[],
  ): ScoredId<number>[] {
    if (query.length !== dimensions) throw wrongDimensions(query.length, dimensions);
    index ??= createVectorIndex(database, dimensions);
    const nearest = index.nearest(query, limit, allowed);
    return rescore(database, query, [...new Set([...nearest, ...others].map(({ id }) => id))]);
  }

  return {
    search({ text, vector, baseline, limit, filter }) {
      const condition = filterCondition(filter);
      const allowed = condition && idsOf(database, condition);
      const candidates = Math.max(CANDIDATES, limit);
      const lexical = text === null ? null : fullText.search(text, candidates, allowed);
      const dense = vector === null ? null : searchVectors(vector, candidates, allowed, lexical ?? []);
      return rankHits(lexical, dense, limit, baseline);
    },
    containing: fullText.containing,
  };
}

/** A condition on chunk ids, as SQL with its parameters. */
interface SqlCondition {
  sql: string;
  parameters: string[];
}

/** The ids of the chunks that pass a filter, as SQL; null if there is nothing to filter by. */
export function filterCondition(filter: Filter): SqlCondition | null {
  const entries = Object.entries(filter);
  if (entries.length === 0) return null;
  const parameters: string[] = [];
  const tests = entries.map(([key, values]) => {
    const column = COLUMNS.has(key) ? `document.${key}` : 'document.metadata ->> ?';
    if (!COLUMNS.has(key)) parameters.push(`$.${JSON.stringify(key)}`);
    parameters.push(...values);
    return `${column} IN (${values.map(() => '?').join()})`;
  });
  return {
    sql: `SELECT chunk.id FROM chunk JOIN document ON document.id = chunk.document_id WHERE ${tests.join(' AND ')}`,
    parameters,
  };
}

function idsOf(database: DatabaseSync, { sql, parameters }: SqlCondition): Set<number> {
  const rows = database.prepare(sql).all(...parameters);
  return new Set(rows.map((row) => Number(row.id)));
}

/** The true similarity of candidates, from the exact vectors. */
function rescore(database: DatabaseSync, query: Float32Array, ids: readonly number[]): ScoredId<number>[] {
  return database
    .prepare('SELECT id, v FROM vector WHERE id IN (SELECT value FROM json_each(?))')
    .all(JSON.stringify(ids))
    .map((row) => ({ id: Number(row.id), score: dotProduct(query, view(Float32Array, row.v)) }))
    .sort(byScore);
}

/** All quantized vectors of a collection in memory, scanned whole: exact but for the rounding to a byte. */
interface VectorIndex {
  /** The nearest chunks by quantized similarity, best first. `allowed` restricts them to a set of chunk ids. */
  nearest(query: Float32Array, limit: number, allowed: ReadonlySet<number> | null): ScoredId<number>[];
}

/**
 * The first search reads each segment, scans it and lets it go: many processes ask once. From the second one on segments
 * are kept in memory, each in a slot of its own, and read again only when the file has changed. A search must run in a
 * `snapshot`: between two statements another process may merge segments.
 */
function createVectorIndex(database: DatabaseSync, dimensions: number): VectorIndex {
  const width = paddedDimensions(dimensions);
  const slotBytes = SEGMENT_SIZE * width;
  const outOffset = 0;
  const queryOffset = SEGMENT_SIZE * 4;
  const slotsOffset = queryOffset + width;
  const { bytes, scan } = createDotProduct();
  const hasChanged = createChangeWatch(database);
  const readVectors = database.prepare('SELECT q FROM segment WHERE id = ?');
  /** The ids of the segments in memory. */
  const slots: (number | null)[] = [];
  let segments: Segment[] = [];
  let keeps = false;

  function refresh(): void {
    if (!hasChanged()) return;
    segments = readSegments(database, VECTOR_SEGMENTS);
    const present = new Set(segments.map(({ id }) => id));
    slots.forEach((id, slot) => {
      if (id !== null && !present.has(id)) slots[slot] = null;
    });
  }

  /** Where the vectors of a segment are, once they are in memory. */
  function load(id: number): number {
    const known = slots.indexOf(id);
    if (known >= 0) return slotsOffset + known * slotBytes;
    const free = slots.indexOf(null);
    const slot = free >= 0 ? free : slots.length;
    const offset = slotsOffset + slot * slotBytes;
    const vectors = view(Int8Array, readVectors.get(id)?.q);
    new Int8Array(bytes(offset + slotBytes), offset, slotBytes).set(vectors);
    slots[slot] = keeps ? id : null;
    return offset;
  }

  return {
    nearest(query, limit, allowed) {
      refresh();
      const { values, scale: queryScale } = quantize(query);
      new Int8Array(bytes(slotsOffset), queryOffset, width).set(values);
      const best = new BestFew(limit);
      for (const { id, size, ids, values: scales } of segments) {
        scan(load(id), size, width, queryOffset, outOffset);
        // Memory that grew is another buffer.
        const dots = new Int32Array(bytes(slotsOffset), outOffset, SEGMENT_SIZE);
        for (let i = 0; i < size; i += 1) {
          const score = (dots[i] ?? 0) * (scales[i] ?? Number.NaN) * queryScale;
          // Not the other way round: a removed vector's score is NaN, which is not above anything.
          if (!(score >= best.floor)) continue;
          const chunkId = ids[i] ?? 0;
          if (allowed === null || allowed.has(chunkId)) best.offer(chunkId, score);
        }
      }
      keeps = true;
      return best.sorted();
    },
  };
}
