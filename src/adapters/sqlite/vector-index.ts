import type { DatabaseSync } from 'node:sqlite';
import { createDotProduct } from './dot-product.ts';
import { paddedDimensions, quantize } from './quantize.ts';
import { readMeta, SEGMENT_SIZE, type SegmentMeta, view } from './vector-segments.ts';

export interface ScoredId {
  id: number;
  score: number;
}

/** All quantized vectors of a collection in memory, scanned whole: exact but for the rounding to a byte. */
export interface VectorIndex {
  /** The nearest chunks by quantized similarity, best first. `allowed` restricts them to a set of chunk ids. */
  nearest(query: Float32Array, limit: number, allowed: ReadonlySet<number> | null): ScoredId[];
}

/**
 * Segments are loaded at the first search and again only when the file has changed; those that are
 * already in memory are kept. Each has a fixed slot in the memory of the scan.
 */
export function createVectorIndex(database: DatabaseSync, dimensions: number): VectorIndex {
  const width = paddedDimensions(dimensions);
  const slotBytes = SEGMENT_SIZE * width;
  const outOffset = 0;
  const queryOffset = SEGMENT_SIZE * 4;
  const slotsOffset = queryOffset + width;
  const { bytes, scan } = createDotProduct();
  const slots: (number | null)[] = [];
  let segments: { meta: SegmentMeta; slot: number }[] = [];
  let loadedVersion = '';

  const readVersion = database.prepare('PRAGMA data_version');
  const readChanges = database.prepare('SELECT total_changes() AS changes');

  function refresh(): void {
    const version = `${readVersion.get()?.data_version}/${readChanges.get()?.changes}`;
    if (version === loadedVersion) return;
    const metas = database
      .prepare('SELECT id, size, dead, ids, scales FROM segment_meta')
      .all()
      .map(readMeta);
    const present = new Set(metas.map((meta) => meta.id));
    slots.forEach((id, slot) => {
      if (id !== null && !present.has(id)) slots[slot] = null;
    });
    const readVectors = database.prepare('SELECT q FROM segment WHERE id = ?');
    segments = metas.map((meta) => {
      const known = slots.indexOf(meta.id);
      if (known >= 0) return { meta, slot: known };
      const free = slots.indexOf(null);
      const slot = free >= 0 ? free : slots.length;
      slots[slot] = meta.id;
      const offset = slotsOffset + slot * slotBytes;
      const vectors = view(Int8Array, readVectors.get(meta.id)?.q);
      new Int8Array(bytes(offset + slotBytes), offset, vectors.length).set(vectors);
      return { meta, slot };
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
      for (const { meta, slot } of segments) {
        scan(slotsOffset + slot * slotBytes, meta.size, width, queryOffset, outOffset);
        for (let i = 0; i < meta.size; i += 1) {
          const score = (dots[i] ?? 0) * (meta.scales[i] ?? Number.NaN) * queryScale;
          // Not the other way round: a removed vector's score is NaN, which is not above anything.
          if (!(score > best.floor)) continue;
          const id = meta.ids[i] ?? 0;
          if (allowed === null || allowed.has(id)) best.add(id, score);
        }
      }
      return best.sorted();
    },
  };
}

/** Keeps the best few of many: a heap with the worst kept one on top. */
class BestFew {
  floor = Number.NEGATIVE_INFINITY;
  readonly #heap: ScoredId[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(id: number, score: number): void {
    const heap = this.#heap;
    if (heap.length < this.#limit) {
      heap.push({ id, score });
      this.#up(heap.length - 1);
    } else {
      heap[0] = { id, score };
      this.#down();
    }
    if (heap.length === this.#limit) this.floor = heap[0]?.score ?? this.floor;
  }

  sorted(): ScoredId[] {
    return this.#heap.toSorted((a, b) => b.score - a.score || a.id - b.id);
  }

  #up(start: number): void {
    let child = start;
    while (child > 0) {
      const parent = (child - 1) >>> 1;
      if (!this.#swapIfSmaller(child, parent)) return;
      child = parent;
    }
  }

  #down(): void {
    let parent = 0;
    for (;;) {
      const left = 2 * parent + 1;
      const right = left + 1;
      const smaller = this.#score(right) < this.#score(left) ? right : left;
      if (!this.#swapIfSmaller(smaller, parent)) return;
      parent = smaller;
    }
  }

  #score(index: number): number {
    return this.#heap[index]?.score ?? Number.POSITIVE_INFINITY;
  }

  #swapIfSmaller(child: number, parent: number): boolean {
    const low = this.#heap[child];
    const high = this.#heap[parent];
    if (low === undefined || high === undefined || low.score >= high.score) return false;
    this.#heap[child] = high;
    this.#heap[parent] = low;
    return true;
  }
}
