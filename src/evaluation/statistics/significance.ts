const Z_95 = 1.959963984540054;
const POWER = 0.8;
const BISECTIONS = 40;

/** The exact two-sided p of McNemar's test for counts of discordant pairs. */
export function mcNemarTest(onlyFirst: number, onlySecond: number): number {
  const discordant = onlyFirst + onlySecond;
  if (discordant === 0 || onlyFirst === onlySecond) return 1;
  return Math.min(1, 2 * binomialTail(Math.min(onlyFirst, onlySecond), discordant, 0.5));
}

/** The probability of at most `count` hits of `n`. Summed in logarithms, so that thousands do not underflow. */
function binomialTail(count: number, n: number, chance: number): number {
  let logTerm = n * Math.log1p(-chance);
  let tail = Math.exp(logTerm);
  for (let hits = 1; hits <= count; hits += 1) {
    logTerm += Math.log((n - hits + 1) / hits) + Math.log(chance) - Math.log1p(-chance);
    tail += Math.exp(logTerm);
  }
  return tail;
}

export interface CorrectedP {
  adjustedP: number;
  /** The share of the error at which the test was decided: significant if and only if p is below that share. */
  share: number;
}

/** P values after Holm's step-down correction, in the given order. A larger weight gives a test more of the error. */
export function holmCorrection(
  ps: readonly number[],
  weights: readonly number[] = ps.map(() => 1),
): CorrectedP[] {
  const ratio = (index: number) => (ps[index] ?? 1) / (weights[index] ?? 1);
  const order = ps.map((_, index) => index).sort((a, b) => ratio(a) - ratio(b));
  const corrected = new Array<CorrectedP>(ps.length);
  let remaining = weights.reduce((sum, weight) => sum + weight, 0);
  let largest = 0;
  for (const index of order) {
    const p = ps[index] ?? 1;
    // Rounding of the weights must not lower a p value.
    largest = Math.max(largest, remaining * ratio(index), p);
    const share = largest > 0 ? p / largest : (weights[index] ?? 1) / remaining;
    corrected[index] = { adjustedP: Math.min(1, largest), share };
    remaining -= weights[index] ?? 1;
  }
  return corrected;
}

/** The 95 % Wilson interval of a share. Unlike the bootstrap it stays wide if all of few cases agree. */
export function wilsonInterval(share: number, n: number): [number, number] {
  const z2 = Z_95 * Z_95;
  const centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z_95 / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
  // The bounds are exact at 0 and 1; rounding must not move them past the share.
  return [share === 0 ? 0 : Math.max(0, centre - half), share === 1 ? 1 : Math.min(1, centre + half)];
}

/**
 * Tango's score interval for the difference of two paired shares, from the numbers of cases that only one arm passes.
 * Unlike the bootstrap it stays wide if all of few cases agree.
 */
export function tangoInterval(onlyArm: number, onlyBaseline: number, n: number, z: number): [number, number] {
  const difference = (onlyArm - onlyBaseline) / n;
  const isInside = (assumed: number) => Math.abs(tangoScore(onlyArm, onlyBaseline, n, assumed)) <= z;
  const boundary = (end: -1 | 1): number => {
    if (isInside(end)) return end;
    const towards = (share: number) => difference + (end - difference) * share;
    return towards(bisect((share) => isInside(towards(share))));
  };
  return [boundary(-1), boundary(1)];
}

/**
 * The interval of the difference that excludes 0 exactly if McNemar's test rejects at `alpha`: Tango's, except where a
 * bound contradicts the test; there it is that of Clopper and Pearson for the share of the discordant pairs.
 */
export function pairedShareInterval(
  onlyArm: number,
  onlyBaseline: number,
  n: number,
  alpha: number,
): [number, number] {
  const score = tangoInterval(onlyArm, onlyBaseline, n, normalQuantile(alpha / 2));
  const discordant = onlyArm + onlyBaseline;
  if (discordant === 0) return score;
  const lowest = (hits: number) =>
    hits === 0 ? 0 : bisect((chance) => 1 - binomialTail(hits - 1, discordant, chance) < alpha / 2);
  const toDifference = (share: number) => ((2 * share - 1) * discordant) / n;
  const exact = [toDifference(lowest(onlyArm)), toDifference(1 - lowest(onlyBaseline))] as const;
  return [
    exact[0] > 0 === score[0] > 0 ? score[0] : exact[0],
    exact[1] < 0 === score[1] < 0 ? score[1] : exact[1],
  ];
}

/** The largest share up to which a condition holds, which holds at 0. */
function bisect(holds: (share: number) => boolean): number {
  let [low, high] = [0, 1];
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** The distance of the counts from an assumed difference in standard errors, by maximum likelihood under it. */
export function tangoScore(onlyArm: number, onlyBaseline: number, n: number, assumed: number): number {
  const a = 2 * n;
  const b = -onlyArm - onlyBaseline + (2 * n - onlyArm + onlyBaseline) * assumed;
  const c = -onlyBaseline * assumed * (1 - assumed);
  const share = (Math.sqrt(Math.max(0, b * b - 4 * a * c)) - b) / (2 * a);
  const variance = n * (2 * share + assumed * (1 - assumed));
  const distance = onlyArm - onlyBaseline - n * assumed;
  if (Math.abs(distance) < 1e-12) return 0;
  return variance <= 0 ? Math.sign(distance) * Number.POSITIVE_INFINITY : distance / Math.sqrt(variance);
}

/** The upper quantile of the standard normal distribution, to three digits (Abramowitz and Stegun, 26.2.23). */
export function normalQuantile(above: number): number {
  if (above > 0.5) return -normalQuantile(1 - above);
  const t = Math.sqrt(-2 * Math.log(above));
  const numerator = 2.515517 + t * (0.802853 + t * 0.010328);
  const denominator = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308));
  return t - numerator / denominator;
}

interface SampleSizeInput {
  /** Present number of independent units. */
  n: number;
  difference: number;
  /** The share of the units on which the arms differ. */
  differing: number;
  /** The standard deviation of the difference of a unit. */
  deviation: number;
  /** Equivalence margin. */
  margin: number;
  /** The error of a proof of a difference, after correction, and of a proof of equivalence. */
  alpha: number;
  equivalenceAlpha: number;
}

/**
 * About how many more units prove the observed difference with a power of 80 %, or, if that takes fewer, prove that it
 * is within the margin; rounded to two digits. Null if no number does.
 */
export function estimateUnitsToDecide({
  n,
  difference,
  differing,
  deviation,
  margin,
  alpha,
  equivalenceAlpha,
}: SampleSizeInput): number | null {
  const size = Math.abs(difference);
  const beta = normalQuantile(1 - POWER);
  // A sign test needs this many differing units even if all of them agree.
  const least = Math.ceil(1 - Math.log2(alpha)) / Math.max(differing, 1e-9);
  const forDifference =
    size > 0
      ? Math.max(
          least,
          ((normalQuantile(alpha / 2) * Math.hypot(deviation, size) + beta * deviation) / size) ** 2,
        )
      : Infinity;
  const z = normalQuantile(equivalenceAlpha);
  const slack = margin - size;
  const forEquivalence =
    slack > 0
      ? Math.max(
          (z ** 2 * (1 - margin)) / margin,
          (((z + normalQuantile((1 - POWER) / 2)) * deviation) / slack) ** 2,
        )
      : Infinity;
  const needed = Math.min(forDifference, forEquivalence);
  return Number.isFinite(needed) ? Math.ceil(Number(Math.max(1, needed - n).toPrecision(2))) : null;
}
