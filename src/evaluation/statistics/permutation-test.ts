import { sumValues } from './metric-column.ts';
import { createRandomIndex } from './random-index.ts';

/** Up to this many units every permutation is enumerated. */
const MAX_ENUMERATED_UNITS = 12;
/** Enough for a p value that survives a correction over some hundred tests. */
const PERMUTATIONS = 9999;
/** Units whose signed sums are looked up in one table. */
const BLOCK_SIZE = 8;
const SIGN_PATTERNS = 2 ** BLOCK_SIZE;
/** Tolerance, so that rounding does not make equal values differ. */
export const EPSILON = 1e-9;

/** Differences between two arms, summed over the cases of each unit, with the number of cases. */
export interface PairedUnits {
  differences: Float64Array;
  sizes: Float64Array;
}

export interface PermutationTest {
  p: number;
  /** The differences that the test does not reject at an error of 1 - `level`; null if it rejects none. */
  intervalAt(level: number): [number, number] | null;
}

/**
 * A two-sided paired permutation test of the mean difference per case: the share of random swaps of whole units between
 * the arms that give a difference at least as large as the observed one. Exact if few units differ. The interval
 * contains 0 exactly if p is at least 1 - `level`.
 */
export function createPermutationTest(
  { differences, sizes }: PairedUnits,
  seed: number,
  permutations = PERMUTATIONS,
): PermutationTest {
  const used = Array.from(sizes.keys()).filter((unit) => (sizes[unit] ?? 0) > 0);
  const { lows, highs, isExhaustive } = subsetMeans(
    used.map((unit) => differences[unit] ?? 0),
    used.map((unit) => sizes[unit] ?? 0),
    seed,
    permutations,
  );
  const p = permutationP(differences, seed, permutations);
  return {
    p,
    intervalAt(level) {
      const alpha = 1 - level;
      // A difference is not rejected if its p, the share of subset means beyond it, is at least alpha.
      const needed = isExhaustive ? alpha * lows.length : alpha * (permutations + 1) - 1;
      const index = Math.max(0, Math.ceil(needed - EPSILON) - 1);
      const low = lows[index] ?? Number.NaN;
      const high = highs[highs.length - 1 - index] ?? Number.NaN;
      if (!Number.isFinite(low) || !Number.isFinite(high)) return null;
      // The exact p of few differing units may disagree with sampled subsets.
      if (p >= alpha) return [Math.min(low, 0), Math.max(high, 0)];
      if (low <= 0 && high >= 0) {
        const mean = sumValues(differences) / sumValues(sizes);
        return mean > 0 ? [Math.min(mean, EPSILON), high] : [low, Math.max(mean, -EPSILON)];
      }
      return [low, high];
    },
  };
}

function permutationP(differences: Float64Array, seed: number, permutations: number): number {
  const differing = Array.from(differences).filter((value) => Math.abs(value) > EPSILON);
  if (differing.length === 0) return 1;
  // Only two permutations are as extreme.
  if (differing.every((value) => value > 0) || differing.every((value) => value < 0))
    return 2 ** (1 - differing.length);
  const observed = Math.abs(sumValues(Float64Array.from(differing)));
  const threshold = observed - EPSILON * Math.max(1, observed);
  const { total, isExhaustive, next } = createSignPatterns(differing.length, seed, permutations);
  const sums = signedSums(differing);
  let extreme = 0;
  for (let permutation = 0; permutation < total; permutation += 1)
    if (Math.abs(lookUpSum(sums, next(permutation))) >= threshold) extreme += 1;
  return isExhaustive ? extreme / total : (extreme + 1) / (total + 1);
}

/**
 * For each division of the units in two, the lower and the higher of the two means, each list in ascending order. An
 * assumed difference is as extreme under a permutation as observed exactly if it lies between these means.
 */
function subsetMeans(
  differences: readonly number[],
  sizes: readonly number[],
  seed: number,
  permutations: number,
): { lows: Float64Array; highs: Float64Array; isExhaustive: boolean } {
  const { total, isExhaustive, next } = createSignPatterns(differences.length, seed, permutations);
  const [sums, counts] = [signedSums(differences), signedSums(sizes)];
  const [sum, count] = [differences, sizes].map((list) => list.reduce((a, b) => a + b, 0)) as [
    number,
    number,
  ];
  const lows = new Float64Array(total);
  const highs = new Float64Array(total);
  for (let permutation = 0; permutation < total; permutation += 1) {
    const patterns = next(permutation);
    const [signedSum, signedCount] = [lookUpSum(sums, patterns), lookUpSum(counts, patterns)];
    const [kept, swapped] = [count + signedCount, count - signedCount];
    const isDivided = kept > EPSILON && swapped > EPSILON;
    const means = [(sum + signedSum) / kept, (sum - signedSum) / swapped] as const;
    lows[permutation] = isDivided ? Math.min(...means) : Number.NEGATIVE_INFINITY;
    highs[permutation] = isDivided ? Math.max(...means) : Number.POSITIVE_INFINITY;
  }
  return { lows: lows.sort(), highs: highs.sort(), isExhaustive };
}

/** Signs of `count` values, a byte per block: all patterns if there are few, else random ones. */
function createSignPatterns(count: number, seed: number, permutations: number) {
  const isExhaustive = count <= MAX_ENUMERATED_UNITS;
  const random = createRandomIndex(seed);
  const patterns = new Uint8Array(Math.ceil(count / BLOCK_SIZE));
  const next = (permutation: number) => {
    for (let block = 0; block < patterns.length; block += 1)
      patterns[block] = isExhaustive ? permutation >> (block * BLOCK_SIZE) : random(SIGN_PATTERNS);
    return patterns;
  };
  return { total: isExhaustive ? 2 ** count : permutations, isExhaustive, next };
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

function lookUpSum(sums: Float64Array, patterns: Uint8Array): number {
  let total = 0;
  for (let block = 0; block < patterns.length; block += 1)
    total += sums[block * SIGN_PATTERNS + (patterns[block] as number)] as number;
  return total;
}
