import type { DatabaseSync } from 'node:sqlite';
import { bytesOf, view } from './database.ts';

/** Many chunks in one row: reading one row for 2048 of them is what makes a cold search fast. */
export const SEGMENT_SIZE = 2048;
const MANY_SMALL_SEGMENTS = 64;

/** Which chunks are together in a segment, with a number for each of them. */
export interface Segment {
  id: number;
  size: number;
  dead: number;
  /** Chunk ids in ascending order. */
  ids: Uint32Array;
  /** Of each chunk; NaN where it was removed. */
  values: Float32Array;
}

/** The tables of this shape, with what the number of a chunk is called there. */
export type SegmentTable =
  | { name: 'segment_meta'; values: 'scales' }
  | { name: 'text_segment'; values: 'lengths' };

/** All segments, or those that a condition lets through. */
export function readSegments(
  database: DatabaseSync,
  { name, values }: SegmentTable,
  condition = '',
  ...parameters: number[]
): Segment[] {
  return database
    .prepare(`SELECT id, size, dead, ids, ${values} AS "values" FROM ${name} ${condition}`)
    .all(...parameters)
    .map((row) => ({
      id: Number(row.id),
      size: Number(row.size),
      dead: Number(row.dead),
      ids: view(Uint32Array, row.ids),
      values: view(Float32Array, row.values),
    }));
}

/** Adds a segment and gives its id: a new one unless given. */
export function createSegmentInsert(database: DatabaseSync, { name, values }: SegmentTable) {
  const insert = database.prepare(
    `INSERT INTO ${name} (id, first_id, last_id, size, dead, ids, ${values}) VALUES (?, ?, ?, ?, 0, ?, ?)`,
  );
  return (ids: Uint32Array, numbers: Float32Array, id: number | bigint | null = null): number => {
    const { lastInsertRowid } = insert.run(
      id,
      ids[0] ?? 0,
      ids.at(-1) ?? 0,
      ids.length,
      bytesOf(ids),
      bytesOf(numbers),
    );
    return Number(lastInsertRowid);
  };
}

/** Marks removed chunks, so that a search passes over them. */
export function markDead(database: DatabaseSync, table: SegmentTable, chunkIds: readonly number[]): void {
  const ordered = chunkIds.toSorted((a, b) => a - b);
  const first = ordered[0];
  const last = ordered.at(-1);
  if (first === undefined || last === undefined) return;
  const touched = readSegments(database, table, 'WHERE first_id <= ? AND last_id >= ?', last, first);
  const update = database.prepare(`UPDATE ${table.name} SET dead = ?, ${table.values} = ? WHERE id = ?`);
  for (const segment of touched) {
    let dead = segment.dead;
    for (const chunkId of ordered) {
      const position = positionOf(segment.ids, chunkId);
      if (position < 0 || Number.isNaN(segment.values[position])) continue;
      segment.values[position] = Number.NaN;
      dead += 1;
    }
    if (dead !== segment.dead) update.run(dead, bytesOf(segment.values), segment.id);
  }
}

/** Whether small or half-dead segments have piled up enough for merging them to be worth it. */
export function needsCompaction(database: DatabaseSync, { name }: SegmentTable): boolean {
  const row = database
    .prepare(
      `SELECT sum(size - dead < ${SEGMENT_SIZE / 2}) AS small, sum(size) AS size, sum(dead) AS dead FROM ${name}`,
    )
    .get();
  return Number(row?.small ?? 0) > MANY_SMALL_SEGMENTS || Number(row?.dead ?? 0) * 4 > Number(row?.size ?? 0);
}

/** The small and half-dead ones, to be merged into full ones. */
export function wornSegments(database: DatabaseSync, table: SegmentTable): Segment[] {
  return readSegments(
    database,
    table,
    `WHERE size - dead < ${SEGMENT_SIZE / 2} OR dead * 4 > size ORDER BY first_id`,
  );
}

/** Says whether the file has changed since it was last asked: by a commit of another connection or a change of this one. */
export function createChangeWatch(database: DatabaseSync): () => boolean {
  const readVersion = database.prepare('PRAGMA data_version');
  const readChanges = database.prepare('SELECT total_changes() AS changes');
  let seen = '';
  return () => {
    const version = `${readVersion.get()?.data_version}/${readChanges.get()?.changes}`;
    const changed = version !== seen;
    seen = version;
    return changed;
  };
}

function positionOf(ids: Uint32Array, chunkId: number): number {
  let low = 0;
  let high = ids.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const id = ids[middle] ?? 0;
    if (id === chunkId) return middle;
    if (id < chunkId) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
