/** How much meaning counts against words; measured by `npm run bench:quality`. */
const DENSE_WEIGHT = 0.5;

/** A place in a list from 1, and a similarity in 0..1. */
export interface RankedScore {
  rank: number;
  score: number;
}

export interface Found {
  lexical: RankedScore | null;
  dense: RankedScore | null;
}

/**
 * A full-text score as a similarity in 0..1. `share` is the BM25 score over what a chunk of ordinary length
 * scores that has each of the query's terms once; there is no upper bound to it, so it is bent, not cut off.
 */
export function lexicalScore(share: number): number {
  return 1 - Math.exp(-Math.max(0, share));
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
