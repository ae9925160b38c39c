import type { DatabaseSync } from 'node:sqlite';
import {
  createSegmentInsert,
  readSparseSegments,
  SEGMENT_SIZE,
  type SegmentTable,
} from './chunk-segments.ts';
import { toBytes, toTypedArray } from './database.ts';
import { createCheckedInsert } from './row-checksums.ts';

/** The quantized vectors of each are in `segment`, under the same id. */
export const VECTOR_SEGMENTS: SegmentTable = { name: 'segment_meta', values: 'scales' };

/** A vector with one byte per dimension: `vector[i]` is about `values[i] * scale`. */
export interface QuantizedVector {
  values: Int8Array;
  scale: number;
}

/** The scan processes 16 dimensions at a time; the rest is filled with zeros. */
export function paddedDimensions(dimensions: number): number {
  return Math.ceil(dimensions / 16) * 16;
}

/** The scale is not finite if a value is not. */
export function quantizeVector(vector: Float32Array): QuantizedVector {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const scale = largest / 127;
  const values = new Int8Array(paddedDimensions(vector.length));
  if (scale > 0) for (let i = 0; i < vector.length; i += 1) values[i] = Math.round((vector[i] ?? 0) / scale);
  return { values, scale };
}

export function createVectorSegmentWriter(database: DatabaseSync, dimensions: number) {
  const width = paddedDimensions(dimensions);
  const insertVectors = createCheckedInsert(database, 'segment');
  const insertSegment = createSegmentInsert(database, VECTOR_SEGMENTS);
  let pending: { chunkId: number; vector: QuantizedVector }[] = [];

  function flush(): void {
    if (pending.length === 0) return;
    pending.sort((a, b) => a.chunkId - b.chunkId);
    const packed = new Int8Array(pending.length * width);
    pending.forEach(({ vector }, index) => {
      packed.set(vector.values, index * width);
    });
    const ids = Uint32Array.from(pending, ({ chunkId }) => chunkId);
    const scales = Float32Array.from(pending, ({ vector }) => vector.scale);
    insertSegment(ids, scales, insertVectors({ q: toBytes(packed) }));
    pending = [];
  }

  return {
    add(chunkId: number, vector: QuantizedVector): void {
      pending.push({ chunkId, vector });
      if (pending.length === SEGMENT_SIZE) flush();
    },
    flush,
  };
}

/** Merges small and sparse segments into full ones. Runs inside the caller's transaction. */
export function compactVectorSegments(database: DatabaseSync, dimensions: number): void {
  const width = paddedDimensions(dimensions);
  const writer = createVectorSegmentWriter(database, dimensions);
  const read = database.prepare('SELECT q FROM segment WHERE id = ?');
  const dropVectors = database.prepare('DELETE FROM segment WHERE id = ?');
  const dropSegment = database.prepare('DELETE FROM segment_meta WHERE id = ?');
  for (const { id, ids, values: scales } of readSparseSegments(database, VECTOR_SEGMENTS)) {
    const packed = toTypedArray(Int8Array, read.get(id)?.q);
    ids.forEach((chunkId, index) => {
      const scale = scales[index] ?? Number.NaN;
      const values = packed.subarray(index * width, (index + 1) * width);
      if (!Number.isNaN(scale)) writer.add(chunkId, { values, scale });
    });
    dropVectors.run(id);
    dropSegment.run(id);
  }
  writer.flush();
}
