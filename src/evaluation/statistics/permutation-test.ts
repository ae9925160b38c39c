import { columnRatio, type MetricColumn, sumValues } from './metric-column.ts';
import { createRandomIndex } from './random-index.ts';

/** Up to this many differing units every permutation is enumerated. */
const MAX_ENUMERATED_UNITS = 12;
/** Enough for a p value that survives a correction over some hundred tests. */
const PERMUTATIONS = 9999;
/** Units whose signed sums are looked up in one table. */
const BLOCK_SIZE = 8;
const SIGN_PATTERNS = 2 ** BLOCK_SIZE;
/** Tolerance, so that rounding does not make equal values differ. */
const EPSILON = 1e-9;

/**
 * The two-sided p of a paired permutation test: the share of random swaps of a unit's values between the arms that give
 * a difference at least as large as the observed one. Exact if few units differ. Columns are of units, not of cases.
 */
export function permutationTest(
  arm: MetricColumn,
  baseline: MetricColumn,
  seed: number,
  permutations = PERMUTATIONS,
): number {
  const differing = differingUnits(arm, baseline);
  if (differing.length === 0) return 1;
  // A swap changes the sign of a unit's difference; the mean of both arms stays.
  const numerators = signedSums(differing.map((unit) => (arm.sum[unit] ?? 0) - (baseline.sum[unit] ?? 0)));
  const denominators = signedSums(differing.map((unit) => (arm.of[unit] ?? 0) - (baseline.of[unit] ?? 0)));
  const meanSum = (sumValues(arm.sum) + sumValues(baseline.sum)) / 2;
  const meanOf = (sumValues(arm.of) + sumValues(baseline.of)) / 2;
  const blocks = Math.ceil(differing.length / BLOCK_SIZE);
  const patterns = new Uint8Array(blocks);
  const swappedDifference = () => {
    let top = 0;
    let bottom = 0;
    for (let block = 0; block < blocks; block += 1) {
      const at = block * SIGN_PATTERNS + (patterns[block] as number);
      top += numerators[at] as number;
      bottom += denominators[at] as number;
    }
    const difference =
      (meanSum + top / 2) / (meanOf + bottom / 2) - (meanSum - top / 2) / (meanOf - bottom / 2);
    // A swap that leaves nothing to divide by counts as extreme.
    return Number.isFinite(difference) ? Math.abs(difference) : Number.POSITIVE_INFINITY;
  };
  const observed = Math.abs(columnRatio(arm) - columnRatio(baseline));
  const threshold = observed - EPSILON * Math.max(1, observed);
  let extreme = 0;
  if (differing.length <= MAX_ENUMERATED_UNITS) {
    const all = 2 ** differing.length;
    for (let permutation = 0; permutation < all; permutation += 1) {
      for (let block = 0; block < blocks; block += 1) patterns[block] = permutation >> (block * BLOCK_SIZE);
      if (swappedDifference() >= threshold) extreme += 1;
    }
    return extreme / all;
  }
  const random = createRandomIndex(seed);
  for (let permutation = 0; permutation < permutations; permutation += 1) {
    for (let block = 0; block < blocks; block += 1) patterns[block] = random(SIGN_PATTERNS);
    if (swappedDifference() >= threshold) extreme += 1;
  }
  return (extreme + 1) / (permutations + 1);
}

/** For each block of values, the sums under every pattern of signs; a set bit of the pattern negates a value. */
function signedSums(values: readonly number[]): Float64Array {
  const blocks = Math.ceil(values.length / BLOCK_SIZE);
  return Float64Array.from({ length: blocks * SIGN_PATTERNS }, (_, place) => {
    const first = Math.floor(place / SIGN_PATTERNS) * BLOCK_SIZE;
    let sum = 0;
    for (let bit = 0; bit < BLOCK_SIZE; bit += 1) {
      sum += (values[first + bit] ?? 0) * ((place >> bit) & 1 ? -1 : 1);
    }
    return sum;
  });
}

/** The indices at which two columns differ. */
export function differingUnits(arm: MetricColumn, baseline: MetricColumn): number[] {
  return Array.from(arm.sum.keys()).filter(
    (unit) =>
      Math.abs((arm.sum[unit] ?? 0) - (baseline.sum[unit] ?? 0)) > EPSILON ||
      Math.abs((arm.of[unit] ?? 0) - (baseline.of[unit] ?? 0)) > EPSILON,
  );
}
