import { columnRatio, type MetricColumn, sumValues } from './metric-column.ts';

const Z_95 = 1.959963984540054;
const POWER = 0.8;
const BISECTIONS = 40;

/**
 * The exact two-sided p of McNemar's test for counts of discordant pairs. Summed in logarithms, so that thousands of
 * pairs do not underflow.
 */
export function mcNemarTest(onlyFirst: number, onlySecond: number): number {
  const discordant = onlyFirst + onlySecond;
  const fewer = Math.min(onlyFirst, onlySecond);
  if (discordant === 0 || onlyFirst === onlySecond) return 1;
  let logTerm = -discordant * Math.LN2;
  let tail = Math.exp(logTerm);
  for (let count = 1; count <= fewer; count += 1) {
    logTerm += Math.log((discordant - count + 1) / count);
    tail += Math.exp(logTerm);
  }
  return Math.min(1, 2 * tail);
}

/** P values after Holm's step-down correction, in the given order. A larger weight gives a test more of the error. */
export function holmCorrection(
  ps: readonly number[],
  weights: readonly number[] = ps.map(() => 1),
): number[] {
  const ratio = (index: number) => (ps[index] ?? 1) / (weights[index] ?? 1);
  const order = ps.map((_, index) => index).sort((a, b) => ratio(a) - ratio(b));
  const adjusted = new Array<number>(ps.length).fill(1);
  let remaining = weights.reduce((sum, weight) => sum + weight, 0);
  let largest = 0;
  for (const index of order) {
    largest = Math.max(largest, Math.min(1, remaining * ratio(index)));
    // Rounding of the weights must not lower a p value.
    adjusted[index] = Math.max(largest, ps[index] ?? 1);
    remaining -= weights[index] ?? 1;
  }
  return adjusted;
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
    let [inside, outside]: number[] = [difference, end];
    for (let step = 0; step < BISECTIONS; step += 1) {
      const middle = ((inside as number) + (outside as number)) / 2;
      if (isInside(middle)) inside = middle;
      else outside = middle;
    }
    return inside as number;
  };
  return [boundary(-1), boundary(1)];
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

/**
 * The standard deviation of what the cases add to the difference of two ratios: a case's influence on its ratio, which
 * for a mean is its own deviation.
 */
export function pairedDeviation(arm: MetricColumn, baseline: MetricColumn): number {
  const used = Array.from(arm.of.keys()).filter((index) =>
    [arm, baseline].some(({ sum, of }) => sum[index] !== 0 || of[index] !== 0),
  );
  const influences = (column: MetricColumn) => {
    const ratio = columnRatio(column);
    const mean = sumValues(column.of) / used.length;
    return used.map((index) => ((column.sum[index] ?? 0) - ratio * (column.of[index] ?? 0)) / mean);
  };
  const ofBaseline = influences(baseline);
  const squares = influences(arm).reduce(
    (sum, value, index) => sum + (value - (ofBaseline[index] ?? 0)) ** 2,
    0,
  );
  return Math.sqrt(squares / Math.max(1, used.length - 1));
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
