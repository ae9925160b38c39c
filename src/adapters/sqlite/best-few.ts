import type { ScoredId } from '../../domain/rank-hits.ts';

/** The order of results: the higher score first, the smaller id among equals. */
export function byScore(a: ScoredId<number>, b: ScoredId<number>): number {
  return b.score - a.score || a.id - b.id;
}

/** Keeps the first few by score of many, in whatever order they come: a heap with the last of them on top. */
export class BestFew {
  /** What is below this need not be offered. */
  floor = Number.NEGATIVE_INFINITY;
  readonly #heap: ScoredId<number>[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  offer(id: number, score: number): void {
    const heap = this.#heap;
    const candidate = { id, score };
    const last = heap[0];
    if (heap.length < this.#limit) {
      heap.push(candidate);
      this.#up(heap.length - 1);
    } else if (last !== undefined && byScore(candidate, last) < 0) {
      heap[0] = candidate;
      this.#down();
    }
    if (heap.length === this.#limit) this.floor = heap[0]?.score ?? this.floor;
  }

  sorted(): ScoredId<number>[] {
    return this.#heap.toSorted(byScore);
  }

  #up(start: number): void {
    let child = start;
    while (child > 0) {
      const parent = (child - 1) >>> 1;
      if (!this.#swapIfLater(child, parent)) return;
      child = parent;
    }
  }

  #down(): void {
    let parent = 0;
    for (;;) {
      const left = 2 * parent + 1;
      const right = left + 1;
      const later = this.#isLater(right, left) ? right : left;
      if (!this.#swapIfLater(later, parent)) return;
      parent = later;
    }
  }

  #isLater(index: number, other: number): boolean {
    const a = this.#heap[index];
    const b = this.#heap[other];
    return a !== undefined && b !== undefined && byScore(a, b) > 0;
  }

  #swapIfLater(child: number, parent: number): boolean {
    if (!this.#isLater(child, parent)) return false;
    const later = this.#heap[child] as ScoredId<number>;
    this.#heap[child] = this.#heap[parent] as ScoredId<number>;
    this.#heap[parent] = later;
    return true;
  }
}
