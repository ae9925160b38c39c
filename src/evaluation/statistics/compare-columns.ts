import { HEADLINE_METRIC } from '../report/format-metric.ts';
import type { MetricComparison, MetricInfo } from '../report/report-data.ts';
import {
  caseValueAt,
  columnRatio,
  filterColumn,
  type MetricColumn,
  type SamplingUnits,
  sumByUnit,
} from './metric-column.ts';
import { createPermutationTest, EPSILON, type PairedUnits } from './permutation-test.ts';
import {
  type CorrectedP,
  estimateUnitsToDecide,
  holmCorrection,
  mcNemarTest,
  normalQuantile,
  pairedShareInterval,
  tangoInterval,
} from './significance.ts';

/** The family-wise error of the question, and again of all other pairs. */
const ALPHA = 0.05;
/** The share of the error for correct answers; the other primary metrics share the rest. */
const HEADLINE_WEIGHT = 0.8;

/** One metric in two arms, on the same cases in the same order. */
export interface ColumnPair {
  metric: Pick<MetricInfo, 'id' | 'kind' | 'better' | 'unit'>;
  arm: MetricColumn;
  baseline: MetricColumn;
}

export interface CompareOptions {
  caseIds: readonly string[];
  units: SamplingUnits;
  seed: number;
  /** Equivalence margin: absolute for shares, else relative to the value of the baseline. */
  margin: number;
  /** Permutations of the test; a default that suits reports. */
  permutations?: number;
}

/** A pair with its test, before the correction. */
interface MeasuredPair {
  pair: ColumnPair;
  comparison: Pick<MetricComparison, 'metric' | 'test' | 'n' | 'difference' | 'p' | 'better' | 'worse'>;
  /** The test at this error; null if no interval can be computed. */
  intervalAt(alpha: number): [number, number] | null;
  /** For two one-sided tests of equivalence at this error. */
  equivalenceIntervalAt(alpha: number): [number, number] | null;
  /** What a relative difference of 1 is: 1 for shares, else the value of the baseline. */
  scale: number;
  clusters: number;
  differing: number;
  deviation: number;
}

/**
 * Compares pairs of arms in primary metrics: McNemar's exact test for pass-or-fail metrics on independent cases,
 * permutations of whole units for the rest. The first pair is the question: it is corrected on its own, so that other
 * arms do not weaken it. The other pairs are corrected among themselves. Metrics without pairs are left out.
 */
export function compareColumns(
  pairs: readonly (readonly ColumnPair[])[],
  options: CompareOptions,
): MetricComparison[][] {
  const measured = pairs.map((ofPair) => measurePairs(ofPair, options));
  const [question = [], ...others] = measured;
  const corrected = new Map([...correctFamily(question), ...correctFamily(others.flat())]);
  return measured.map((ofPair, index) =>
    ofPair.map((one) =>
      concludePair(one, corrected.get(one) ?? null, {
        margin: options.margin,
        pairs: index === 0 ? 1 : others.length,
      }),
    ),
  );
}

/** Measures metrics on the cases that have them in both arms; those without such cases are left out. */
function measurePairs(pairs: readonly ColumnPair[], options: CompareOptions): MeasuredPair[] {
  return pairs.flatMap(({ metric, arm, baseline }) => {
    const isPaired = (index: number) => (arm.of[index] ?? 0) > 0 && (baseline.of[index] ?? 0) > 0;
    const pair = { metric, arm: filterColumn(arm, isPaired), baseline: filterColumn(baseline, isPaired) };
    const isMeasured = Number.isFinite(columnRatio(pair.arm) - columnRatio(pair.baseline));
    return isMeasured ? [measurePair(pair, options)] : [];
  });
}

function measurePair(pair: ColumnPair, options: CompareOptions): MeasuredPair {
  const { metric, arm, baseline } = pair;
  const { units, caseIds, seed, permutations } = options;
  const { higher, lower, n } = splitCases(arm, baseline);
  const isIndependent = units.clusters === units.unitOf.length;
  const isBinary = metric.kind === 'binary' && isPassOrFail(arm) && isPassOrFail(baseline) && isIndependent;
  const paired = toPairedUnits(arm, baseline, units);
  const differing = paired.differences.filter((value) => Math.abs(value) > EPSILON).length;
  const clusters = paired.sizes.filter((size) => size > 0).length;
  const permuted = isBinary ? null : createPermutationTest(paired, seed, permutations);
  const widened = (interval: [number, number] | null, alpha: number): [number, number] | null => {
    // Shares that agree on all units show no spread.
    const unseen = metric.unit === 'share' && differing === 0 ? unseenShare(clusters, alpha) : 0;
    return interval && [interval[0] - unseen, interval[1] + unseen];
  };
  const [better, worse] = metric.better === 'higher' ? [higher, lower] : [lower, higher];
  const toIds = (indices: number[]) =>
    metric.unit === 'share' ? indices.map((index) => caseIds[index] ?? '') : [];
  return {
    pair,
    scale: metric.unit === 'share' ? 1 : Math.abs(columnRatio(baseline)),
    clusters,
    differing,
    deviation: pairedDeviation(paired),
    intervalAt: (alpha) =>
      permuted === null
        ? pairedShareInterval(higher.length, lower.length, n, alpha)
        : widened(permuted.intervalAt(1 - alpha), alpha),
    equivalenceIntervalAt: (alpha) =>
      permuted === null
        ? tangoInterval(higher.length, lower.length, n, normalQuantile(alpha))
        : permuted.intervalAt(1 - 2 * alpha),
    comparison: {
      metric: metric.id,
      test: isBinary ? 'mcnemar' : 'permutation',
      n,
      difference: columnRatio(arm) - columnRatio(baseline),
      p: permuted?.p ?? mcNemarTest(higher.length, lower.length),
      better: toIds(better),
      worse: toIds(worse),
    },
  };
}

/** The largest share of units that differ where none of `clusters` was seen to, at this one-sided error. */
function unseenShare(clusters: number, alpha: number): number {
  const z2 = normalQuantile(alpha) ** 2;
  return z2 / (clusters + z2);
}

function toPairedUnits(arm: MetricColumn, baseline: MetricColumn, units: SamplingUnits): PairedUnits {
  const [ofArm, ofBaseline] = [sumByUnit(arm, units), sumByUnit(baseline, units)];
  return {
    differences: ofArm.sum.map((sum, unit) => sum - (ofBaseline.sum[unit] ?? 0)),
    sizes: ofArm.of,
  };
}

/** The standard deviation of the difference of a unit, for units of the mean size. */
function pairedDeviation({ differences, sizes }: PairedUnits): number {
  const used = Array.from(sizes.keys()).filter((unit) => (sizes[unit] ?? 0) > 0);
  const total = (values: Float64Array) => used.reduce((sum, unit) => sum + (values[unit] ?? 0), 0);
  const [mean, size] = [total(differences) / total(sizes), total(sizes) / used.length];
  const squares = used.reduce(
    (sum, unit) => sum + (((differences[unit] ?? 0) - mean * (sizes[unit] ?? 0)) / size) ** 2,
    0,
  );
  return Math.sqrt(squares / Math.max(1, used.length - 1));
}

/** So few units differ that no result could be significant, even uncorrected: the smallest p is 2^(1 - differing). */
function isTestable({ differing }: MeasuredPair): boolean {
  return 2 ** (1 - differing) < ALPHA;
}

/** Pairs that cannot be tested are left out, so that they cost the others no power (Tarone). */
function correctFamily(measured: readonly MeasuredPair[]): [MeasuredPair, CorrectedP][] {
  const tested = measured.filter(isTestable);
  const isHeadline = ({ pair }: MeasuredPair) => pair.metric.id === HEADLINE_METRIC;
  const headlines = tested.filter(isHeadline).length;
  const corrected = holmCorrection(
    tested.map(({ comparison }) => comparison.p ?? 1),
    tested.map((one) =>
      isHeadline(one) ? HEADLINE_WEIGHT / headlines : (1 - HEADLINE_WEIGHT) / (tested.length - headlines),
    ),
  );
  return tested.map((one, index) => [one, corrected[index] as CorrectedP]);
}

function concludePair(
  measured: MeasuredPair,
  corrected: CorrectedP | null,
  { margin, pairs }: { margin: number; pairs: number },
): MetricComparison {
  const { pair, comparison, scale, intervalAt } = measured;
  const equivalenceAlpha = ALPHA / pairs;
  const isGain = comparison.difference > 0 === (pair.metric.better === 'higher');
  const conclusion = isEquivalent(measured, margin, equivalenceAlpha)
    ? 'equivalent'
    : corrected === null
      ? 'too few'
      : corrected.adjustedP >= ALPHA
        ? 'undecided'
        : isGain
          ? 'better'
          : 'worse';
  const isOpen = conclusion === 'undecided' || conclusion === 'too few';
  const alpha = ALPHA * (corrected?.share ?? 1);
  return {
    ...comparison,
    p: corrected === null ? null : comparison.p,
    adjustedP: corrected?.adjustedP ?? null,
    interval: comparison.n < 2 ? null : intervalAt(alpha),
    level: 1 - alpha,
    conclusion,
    needed: isOpen && scale > 0 ? casesToDecide(measured, { margin, pairs, equivalenceAlpha }) : null,
  };
}

/** Two one-sided tests. Units that all agree show no spread, so one more that differs entirely is allowed for. */
function isEquivalent(
  { comparison, scale, clusters, equivalenceIntervalAt }: MeasuredPair,
  margin: number,
  alpha: number,
): boolean {
  const interval = comparison.n < 2 ? null : equivalenceIntervalAt(alpha);
  if (interval === null) return false;
  const unseen = unseenShare(clusters, alpha);
  const largest = Math.max(
    Math.abs(interval[0]),
    Math.abs(interval[1]),
    Math.abs(comparison.difference) + unseen * scale,
  );
  return unseen <= margin && largest <= margin * scale + EPSILON;
}

function casesToDecide(
  { comparison, scale, clusters, differing, deviation }: MeasuredPair,
  { margin, pairs, equivalenceAlpha }: { margin: number; pairs: number; equivalenceAlpha: number },
): number | null {
  // Half a unit is added either way, so that five of five do not count as certain.
  const doubt = 1 / (clusters + 2);
  const units = estimateUnitsToDecide({
    n: clusters,
    difference: (comparison.difference / scale) * (1 - 2 * doubt),
    differing: (differing + 1) * doubt,
    deviation: Math.hypot(deviation / scale, Math.sqrt(doubt) / 2),
    margin,
    alpha: (ALPHA * HEADLINE_WEIGHT) / pairs,
    equivalenceAlpha,
  });
  return units === null ? null : Math.ceil((units * comparison.n) / clusters);
}

/** What a non-inferiority test of one metric finds. */
export interface LossTest extends Pick<MetricComparison, 'metric' | 'n' | 'difference'> {
  /** The one-sided p of a loss. */
  p: number;
  /** The largest loss that the cases do not exclude, at the given one-sided error. */
  largest: number;
}

/**
 * Tests each metric for a loss of the arm, at a one-sided error that the metrics share. Metrics on so few units that
 * losing all of them would prove nothing are left out.
 */
export function testLosses(pairs: readonly ColumnPair[], options: CompareOptions, alpha = ALPHA): LossTest[] {
  const measured = measurePairs(pairs, options).filter(
    ({ clusters }) => 2 ** -clusters < alpha / pairs.length,
  );
  return measured.map(({ pair, comparison, intervalAt }) => {
    const sign = pair.metric.better === 'higher' ? -1 : 1;
    const { metric, n, difference, p } = comparison;
    const [low, high] = intervalAt((2 * alpha) / measured.length) ?? [-Infinity, Infinity];
    return {
      metric,
      n,
      difference,
      p: sign * difference > 0 ? (p ?? 1) / 2 : 1,
      largest: Math.max(0, sign > 0 ? high : -low),
    };
  });
}

/** The cases on which the value of the arm is higher and lower. */
function splitCases(arm: MetricColumn, baseline: MetricColumn) {
  const higher: number[] = [];
  const lower: number[] = [];
  let n = 0;
  arm.of.forEach((_, index) => {
    const ofArm = caseValueAt(arm, index);
    const ofBaseline = caseValueAt(baseline, index);
    if (ofArm === null || ofBaseline === null) return;
    n += 1;
    if (ofArm - ofBaseline > EPSILON) higher.push(index);
    if (ofArm - ofBaseline < -EPSILON) lower.push(index);
  });
  return { higher, lower, n };
}

/** Whether every case is 0 or 1, which repeats can change. */
function isPassOrFail(column: MetricColumn): boolean {
  return column.sum.every((sum, index) => sum === 0 || sum === column.of[index]);
}
