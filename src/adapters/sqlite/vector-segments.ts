import type { DatabaseSync } from 'node:sqlite';
import { bytesOf, view } from './database.ts';
import { paddedDimensions, type QuantizedVector } from './quantize.ts';
import { createSegmentInsert, SEGMENT_SIZE, type SegmentTable, wornSegments } from './segments.ts';

/** The vectors of each are in `segment`, under the same id. */
export const VECTOR_SEGMENTS: SegmentTable = { name: 'segment_meta', values: 'scales' };

interface SegmentWriter {
  add(chunkId: number, vector: QuantizedVector): void;
  flush(): void;
}

export function createSegmentWriter(database: DatabaseSync, dimensions: number): SegmentWriter {
  const width = paddedDimensions(dimensions);
  const insertVectors = database.prepare('INSERT INTO segment (q) VALUES (?)');
  const insertSegment = createSegmentInsert(database, VECTOR_SEGMENTS);
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
    insertSegment(ids, scales, insertVectors.run(bytesOf(q)).lastInsertRowid);
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

/** Merges small and half-dead segments into full ones. Runs inside the caller's transaction. */
export function compactVectors(database: DatabaseSync, dimensions: number): void {
  const width = paddedDimensions(dimensions);
  const writer = createSegmentWriter(database, dimensions);
  const read = database.prepare('SELECT q FROM segment WHERE id = ?');
  const dropVectors = database.prepare('DELETE FROM segment WHERE id = ?');
  const dropSegment = database.prepare('DELETE FROM segment_meta WHERE id = ?');
  for (const segment of wornSegments(database, VECTOR_SEGMENTS)) {
    const q = view(Int8Array, read.get(segment.id)?.q);
    segment.ids.forEach((chunkId, index) => {
      const scale = segment.values[index] ?? Number.NaN;
      if (!Number.isNaN(scale))
        writer.add(chunkId, { values: q.subarray(index * width, (index + 1) * width), scale });
    });
    dropVectors.run(segment.id);
    dropSegment.run(segment.id);
  }
  writer.flush();
}
