import type { DatabaseSync } from 'node:sqlite';
import { BestFew, type ScoredId } from './best-few.ts';
import { view } from './blob.ts';
import { createDotProduct } from './dot-product.ts';
import { paddedDimensions, quantize } from './quantize.ts';
import { readSegment, SEGMENT_SIZE, type Segment } from './vector-segments.ts';

/** All quantized vectors of a collection in memory, scanned whole: exact but for the rounding to a byte. */
export interface VectorIndex {
  /** The nearest chunks by quantized similarity, best first. `allowed` restricts them to a set of chunk ids. */
  nearest(query: Float32Array, limit: number, allowed: ReadonlySet<number> | null): ScoredId[];
}

/**
 * Segments are loaded at the first search and again only when the file has changed; those that are
 * already in memory are kept. Each has a fixed slot in the memory of the scan. A search must run in a
 * `snapshot`: between two statements another process may merge segments.
 */
export function createVectorIndex(database: DatabaseSync, dimensions: number): VectorIndex {
  const width = paddedDimensions(dimensions);
  const slotBytes = SEGMENT_SIZE * width;
  const outOffset = 0;
  const queryOffset = SEGMENT_SIZE * 4;
  const slotsOffset = queryOffset + width;
  const { bytes, scan } = createDotProduct();
  const slots: (number | null)[] = [];
  let loaded: { segment: Segment; offset: number }[] = [];
  let loadedVersion = '';

  const readVersion = database.prepare('PRAGMA data_version');
  const readChanges = database.prepare('SELECT total_changes() AS changes');

  function refresh(): void {
    // The first counts commits of other connections, the second changes of this one.
    const version = `${readVersion.get()?.data_version}/${readChanges.get()?.changes}`;
    if (version === loadedVersion) return;
    const segments = database
      .prepare('SELECT id, size, dead, ids, scales FROM segment_meta')
      .all()
      .map(readSegment);
    const present = new Set(segments.map(({ id }) => id));
    slots.forEach((id, slot) => {
      if (id !== null && !present.has(id)) slots[slot] = null;
    });
    const readVectors = database.prepare('SELECT q FROM segment WHERE id = ?');
    loaded = segments.map((segment) => {
      const known = slots.indexOf(segment.id);
      if (known >= 0) return { segment, offset: slotsOffset + known * slotBytes };
      const free = slots.indexOf(null);
      const slot = free >= 0 ? free : slots.length;
      const offset = slotsOffset + slot * slotBytes;
      const vectors = view(Int8Array, readVectors.get(segment.id)?.q);
      new Int8Array(bytes(offset + slotBytes), offset, slotBytes).set(vectors);
      slots[slot] = segment.id;
      return { segment, offset };
    });
    loadedVersion = version;
  }

  return {
    nearest(query, limit, allowed) {
      refresh();
      const memory = bytes(slotsOffset + slots.length * slotBytes);
      const { values, scale: queryScale } = quantize(query);
      new Int8Array(memory, queryOffset, width).set(values);
      const dots = new Int32Array(memory, outOffset, SEGMENT_SIZE);
      const best = new BestFew(limit);
      for (const { segment, offset } of loaded) {
        scan(offset, segment.size, width, queryOffset, outOffset);
        for (let i = 0; i < segment.size; i += 1) {
          const score = (dots[i] ?? 0) * (segment.scales[i] ?? Number.NaN) * queryScale;
          // Not the other way round: a removed vector's score is NaN, which is not above anything.
          if (!(score >= best.floor)) continue;
          const id = segment.ids[i] ?? 0;
          if (allowed === null || allowed.has(id)) best.offer(id, score);
        }
      }
      return best.sorted();
    },
  };
}
