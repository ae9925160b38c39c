import type { DatabaseSync } from 'node:sqlite';
import { bytesOf, view } from './database.ts';
import { paddedDimensions, type QuantizedVector } from './quantize.ts';

export const SEGMENT_SIZE = 2048;
const MANY_SMALL_SEGMENTS = 64;

export interface Segment {
  id: number;
  size: number;
  dead: number;
  /** Chunk ids in ascending order. */
  ids: Uint32Array;
  /** Scale of each vector; NaN where it was removed. */
  scales: Float32Array;
}

/** Packs vectors into segments: reading one row for 2048 of them is what makes a cold scan fast. */
interface SegmentWriter {
  add(chunkId: number, vector: QuantizedVector): void;
  flush(): void;
}

export function createSegmentWriter(database: DatabaseSync, dimensions: number): SegmentWriter {
  const width = paddedDimensions(dimensions);
  const insertSegment = database.prepare('INSERT INTO segment (q) VALUES (?)');
  const insertMeta = database.prepare(
    'INSERT INTO segment_meta (id, first_id, last_id, size, dead, ids, scales) VALUES (?, ?, ?, ?, 0, ?, ?)',
  );
  let pending: { chunkId: number; vector: QuantizedVector }[] = [];

  function flush(): void {
    if (pending.length === 0) return;
    pending.sort((a, b) => a.chunkId - b.chunkId);
    const q = new Int8Array(pending.length * width);
    pending.forEach(({ vector }, index) => {
      q.set(vector.values, index * width);
    });
    const ids = Uint32Array.from(pending, ({ chunkId }) => chunkId);
    const scales = Float32Array.from(pending, ({ vector }) => vector.scale);
    const { lastInsertRowid } = insertSegment.run(bytesOf(q));
    insertMeta.run(lastInsertRowid, ids[0] ?? 0, ids.at(-1) ?? 0, ids.length, bytesOf(ids), bytesOf(scales));
    pending = [];
  }

  return {
    add(chunkId, vector) {
      pending.push({ chunkId, vector });
      if (pending.length === SEGMENT_SIZE) flush();
    },
    flush,
  };
}

/** Marks the vectors of removed chunks, so that a scan passes over them. */
export function markDead(database: DatabaseSync, chunkIds: readonly number[]): void {
  const ordered = chunkIds.toSorted((a, b) => a - b);
  const first = ordered[0];
  const last = ordered.at(-1);
  if (first === undefined || last === undefined) return;
  const touched = database
    .prepare('SELECT id, size, dead, ids, scales FROM segment_meta WHERE first_id <= ? AND last_id >= ?')
    .all(last, first)
    .map(readSegment);
  const update = database.prepare('UPDATE segment_meta SET dead = ?, scales = ? WHERE id = ?');
  for (const segment of touched) {
    let dead = segment.dead;
    for (const chunkId of ordered) {
      const position = positionOf(segment.ids, chunkId);
      if (position < 0 || Number.isNaN(segment.scales[position])) continue;
      segment.scales[position] = Number.NaN;
      dead += 1;
    }
    if (dead !== segment.dead) update.run(dead, bytesOf(segment.scales), segment.id);
  }
}

/** Merges segments if small or half-dead ones have piled up enough to be worth it. Runs inside the caller's transaction. */
export function compactIfWorn(database: DatabaseSync, dimensions: number): void {
  if (needsCompaction(database)) compact(database, dimensions);
}

function needsCompaction(database: DatabaseSync): boolean {
  const row = database
    .prepare(
      `SELECT sum(size - dead < ${SEGMENT_SIZE / 2}) AS small, sum(size) AS size, sum(dead) AS dead FROM segment_meta`,
    )
    .get();
  return Number(row?.small ?? 0) > MANY_SMALL_SEGMENTS || Number(row?.dead ?? 0) * 4 > Number(row?.size ?? 0);
}

/** Merges small and half-dead segments into full ones. Runs inside the caller's transaction. */
export function compact(database: DatabaseSync, dimensions: number): void {
  const width = paddedDimensions(dimensions);
  const worn = database
    .prepare(
      `SELECT id, size, dead, ids, scales FROM segment_meta
       WHERE size - dead < ${SEGMENT_SIZE / 2} OR dead * 4 > size ORDER BY first_id`,
    )
    .all()
    .map(readSegment);
  const writer = createSegmentWriter(database, dimensions);
  const read = database.prepare('SELECT q FROM segment WHERE id = ?');
  const dropSegment = database.prepare('DELETE FROM segment WHERE id = ?');
  const dropMeta = database.prepare('DELETE FROM segment_meta WHERE id = ?');
  for (const segment of worn) {
    const q = view(Int8Array, read.get(segment.id)?.q);
    segment.ids.forEach((chunkId, index) => {
      const scale = segment.scales[index] ?? Number.NaN;
      if (!Number.isNaN(scale))
        writer.add(chunkId, { values: q.subarray(index * width, (index + 1) * width), scale });
    });
    dropSegment.run(segment.id);
    dropMeta.run(segment.id);
  }
  writer.flush();
}

export function readSegment(row: Record<string, unknown>): Segment {
  return {
    id: Number(row.id),
    size: Number(row.size),
    dead: Number(row.dead),
    ids: view(Uint32Array, row.ids),
    scales: view(Float32Array, row.scales),
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
