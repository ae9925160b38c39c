/** How much meaning counts against words; measured by `npm run bench:quality`. */
const DENSE_WEIGHT = 0.6;

/** A place in a list from 1, and a similarity in 0..1. */
export interface RankedScore {
  rank: number;
  score: number;
}

export interface Found {
  lexical: RankedScore | null;
  dense: RankedScore | null;
}

/** What hits are ordered by: the weighted sum of both similarities. With one kind of search alone, its own. */
export function fusedScore({ lexical, dense }: Found, mode: { lexical: boolean; dense: boolean }): number {
  if (!mode.lexical) return clamp(dense?.score ?? 0);
  if (!mode.dense) return clamp(lexical?.score ?? 0);
  return DENSE_WEIGHT * clamp(dense?.score ?? 0) + (1 - DENSE_WEIGHT) * clamp(lexical?.score ?? 0);
}

/**
 * How alike query and chunk are, in 0..1: what a threshold is held against. Words in common add to the
 * meaning in common, but a paraphrase that shares none must not lose by it.
 */
export function similarity(found: Found, mode: { lexical: boolean; dense: boolean }): number {
  return Math.max(fusedScore(found, mode), clamp(found.dense?.score ?? 0));
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
