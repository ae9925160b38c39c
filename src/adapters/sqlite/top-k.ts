import type { ScoredId } from '../../domain/rank-hits.ts';

/** Higher scores first, then smaller ids. */
export function compareByScore(a: ScoredId<number>, b: ScoredId<number>): number {
  return b.score - a.score || a.id - b.id;
}

/** The best `limit` of the scores that were added, best first. */
export class TopKList {
  /** Lower scores need not be added. */
  floor = Number.NEGATIVE_INFINITY;
  readonly sorted: ScoredId<number>[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(id: number, score: number): void {
    const { sorted } = this;
    const candidate = { id, score };
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareByScore(sorted[middle] as ScoredId<number>, candidate) < 0) low = middle + 1;
      else high = middle;
    }
    if (low >= this.#limit) return;
    // Few candidates get here once the list is full, so moving its tail costs little.
    sorted.splice(low, 0, candidate);
    if (sorted.length > this.#limit) sorted.pop();
    if (sorted.length === this.#limit) this.floor = sorted.at(-1)?.score ?? this.floor;
  }
}
