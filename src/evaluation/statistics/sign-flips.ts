import { type Column, ratioOf } from './column.ts';
import { createRandomIndex } from './random.ts';

/** So many units that differ can be turned round in every way there is. */
const MOST_ENUMERATED = 12;
/** Enough for a p value that survives a correction over some hundred tests. */
const FLIPS = 9999;
/** Units whose signed sums are looked up together. */
const BLOCK = 8;
const WAYS_OF_BLOCK = 2 ** BLOCK;

/**
 * How likely a difference at least as large is if it did not matter which arm a unit's values came from: they are
 * swapped at random, or in every way where few units differ. Valid however few the cases and however they spread.
 * Columns are of units, not of cases. Two-sided.
 */
export function signFlipP(arm: Column, baseline: Column, seed: number, flips = FLIPS): number {
  const differing = differingUnits(arm, baseline);
  if (differing.length === 0) return 1;
  // What a swap turns round, and what stays whatever is swapped.
  const over = signedSums(differing.map((unit) => (arm.sum[unit] ?? 0) - (baseline.sum[unit] ?? 0)));
  const under = signedSums(differing.map((unit) => (arm.of[unit] ?? 0) - (baseline.of[unit] ?? 0)));
  const half = halvesOf(arm, baseline);
  const blocks = Math.ceil(differing.length / BLOCK);
  const ways = new Uint8Array(blocks);
  const difference = () => {
    let top = 0;
    let bottom = 0;
    for (let block = 0; block < blocks; block += 1) {
      const at = block * WAYS_OF_BLOCK + (ways[block] as number);
      top += over[at] as number;
      bottom += under[at] as number;
    }
    const swapped =
      (half.sum + top / 2) / (half.of + bottom / 2) - (half.sum - top / 2) / (half.of - bottom / 2);
    // What leaves nothing to divide by is as extreme as anything.
    return Number.isFinite(swapped) ? Math.abs(swapped) : Number.POSITIVE_INFINITY;
  };
  const seen = Math.abs(ratioOf(arm) - ratioOf(baseline));
  const least = seen - 1e-9 * Math.max(1, seen);
  let extreme = 0;
  if (differing.length <= MOST_ENUMERATED) {
    const all = 2 ** differing.length;
    for (let way = 0; way < all; way += 1) {
      for (let block = 0; block < blocks; block += 1) ways[block] = way >> (block * BLOCK);
      if (difference() >= least) extreme += 1;
    }
    return extreme / all;
  }
  const random = createRandomIndex(seed);
  for (let flip = 0; flip < flips; flip += 1) {
    for (let block = 0; block < blocks; block += 1) ways[block] = random(WAYS_OF_BLOCK);
    if (difference() >= least) extreme += 1;
  }
  return (extreme + 1) / (flips + 1);
}

/** The sums of each eight values, with the signs that the bits of the place say. */
function signedSums(values: readonly number[]): Float64Array {
  const blocks = Math.ceil(values.length / BLOCK);
  return Float64Array.from({ length: blocks * WAYS_OF_BLOCK }, (_, place) => {
    const first = Math.floor(place / WAYS_OF_BLOCK) * BLOCK;
    let sum = 0;
    for (let bit = 0; bit < BLOCK; bit += 1) {
      sum += (values[first + bit] ?? 0) * ((place >> bit) & 1 ? -1 : 1);
    }
    return sum;
  });
}

/** Rounding must not make two equal values differ. */
const SAME = 1e-9;

/** The places at which two columns are not the same. */
export function differingUnits(arm: Column, baseline: Column): number[] {
  return Array.from(arm.sum.keys()).filter(
    (unit) =>
      Math.abs((arm.sum[unit] ?? 0) - (baseline.sum[unit] ?? 0)) > SAME ||
      Math.abs((arm.of[unit] ?? 0) - (baseline.of[unit] ?? 0)) > SAME,
  );
}

function halvesOf(arm: Column, baseline: Column): { sum: number; of: number } {
  let [sum, of] = [0, 0];
  for (let unit = 0; unit < arm.sum.length; unit += 1) {
    sum += ((arm.sum[unit] ?? 0) + (baseline.sum[unit] ?? 0)) / 2;
    of += ((arm.of[unit] ?? 0) + (baseline.of[unit] ?? 0)) / 2;
  }
  return { sum, of };
}
