import type { DatabaseSync } from 'node:sqlite';
import { toBytes, toTypedArray } from './database.ts';
import { checksumSql, createCheckedInsert } from './row-checksums.ts';

/** Chunks per row: reading one row for 2048 chunks makes a cold search fast. */
export const SEGMENT_SIZE = 2048;
const MAX_SMALL_SEGMENTS = 64;

/** A group of chunks that are stored in one row, with one number for each. */
export interface ChunkSegment {
  id: number;
  size: number;
  /** Removed chunks. */
  dead: number;
  /** Chunk ids in ascending order. */
  ids: Uint32Array;
  /** One per chunk; NaN if the chunk was removed. */
  values: Float32Array;
}

export type SegmentTable =
  | { name: 'segment_meta'; values: 'scales' }
  | { name: 'text_segment'; values: 'lengths' };

export function readSegments(
  database: DatabaseSync,
  { name, values }: SegmentTable,
  condition = '',
  ...parameters: number[]
): ChunkSegment[] {
  return database
    .prepare(`SELECT id, size, dead, ids, ${values} AS "values" FROM ${name} ${condition}`)
    .all(...parameters)
    .map((row) => ({
      id: Number(row.id),
      size: Number(row.size),
      dead: Number(row.dead),
      ids: toTypedArray(Uint32Array, row.ids),
      values: toTypedArray(Float32Array, row.values),
    }));
}

/** Returns a function that inserts a segment and returns its id, which is new unless given. */
export function createSegmentInsert(database: DatabaseSync, { name, values }: SegmentTable) {
  const insert = createCheckedInsert(database, name, ['id']);
  return (ids: Uint32Array, numbers: Float32Array, id: number | bigint | null = null): number => {
    const range = { first_id: ids[0] ?? 0, last_id: ids.at(-1) ?? 0, size: ids.length, dead: 0 };
    const blobs = { ids: toBytes(ids), [values]: toBytes(numbers) };
    return insert({ id, ...range, ...blobs });
  };
}

/** Marks chunks as removed, so that searches skip them. */
export function markChunksRemoved(
  database: DatabaseSync,
  table: SegmentTable,
  chunkIds: readonly number[],
): void {
  if (chunkIds.length === 0) return;
  const removed = new Set(chunkIds);
  const ordered = chunkIds.toSorted((a, b) => a - b);
  const range = [ordered.at(-1) ?? 0, ordered[0] ?? 0];
  const touched = readSegments(database, table, 'WHERE first_id <= ? AND last_id >= ?', ...range);
  const crc = checksumSql(table.name, { dead: ':dead', [table.values]: ':values' });
  const update = database.prepare(
    `UPDATE ${table.name} SET dead = :dead, ${table.values} = :values, crc = ${crc} WHERE id = :id`,
  );
  for (const { id, dead, ids, values } of touched) {
    let count = dead;
    ids.forEach((chunkId, index) => {
      if (!removed.has(chunkId) || Number.isNaN(values[index])) return;
      values[index] = Number.NaN;
      count += 1;
    });
    if (count !== dead) update.run({ id, dead: count, values: toBytes(values) });
  }
}

/** Whether there are enough small or sparse segments to be worth merging. */
export function needsCompaction(database: DatabaseSync, { name }: SegmentTable): boolean {
  const row = database
    .prepare(
      `SELECT sum(size - dead < ${SEGMENT_SIZE / 2}) AS small, sum(size) AS size, sum(dead) AS dead FROM ${name}`,
    )
    .get();
  return Number(row?.small ?? 0) > MAX_SMALL_SEGMENTS || Number(row?.dead ?? 0) * 4 > Number(row?.size ?? 0);
}

/** The segments to merge: small ones, and those of which a quarter was removed. */
export function readSparseSegments(database: DatabaseSync, table: SegmentTable): ChunkSegment[] {
  return readSegments(
    database,
    table,
    `WHERE size - dead < ${SEGMENT_SIZE / 2} OR dead * 4 > size ORDER BY first_id`,
  );
}

/** Returns a function that reports whether this or another connection changed the file since the last call. */
export function createChangeDetector(database: DatabaseSync): () => boolean {
  const readVersion = database.prepare('PRAGMA data_version');
  const readChanges = database.prepare('SELECT total_changes() AS changes');
  let last = '';
  return () => {
    const version = `${readVersion.get()?.data_version}/${readChanges.get()?.changes}`;
    const hasChanged = version !== last;
    last = version;
    return hasChanged;
  };
}
