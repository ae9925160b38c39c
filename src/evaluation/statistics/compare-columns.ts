import type { MetricComparison, MetricInfo } from '../report/report-data.ts';
import { type BootstrapSampler, percentileInterval } from './bootstrap.ts';
import {
  caseValueAt,
  columnRatio,
  filterColumn,
  type MetricColumn,
  type SamplingUnits,
  sumByUnit,
} from './metric-column.ts';
import { differingUnits, permutationTest } from './permutation-test.ts';
import {
  estimateUnitsToDecide,
  holmCorrection,
  mcNemarTest,
  normalQuantile,
  pairedDeviation,
  tangoInterval,
} from './significance.ts';

/** The family-wise error of all conclusions of a report, and the error of each claim of equivalence. */
const ALPHA = 0.05;
/** Tolerance, so that rounding does not make equal cases differ. */
const EPSILON = 1e-9;
/** The metric that decides first and gets half of the error. */
export const HEADLINE_METRIC = 'answer.correct';
/** The other metrics that a recommendation considers, besides the price. */
export const SECONDARY_METRICS: readonly string[] = [
  'answer.clean',
  'citation.precision',
  'abstention.precision',
  'abstention.recall',
  'decision.under',
  'decision.over',
];
/** Groups whose values differ on nearly every case, so that listing the cases says nothing. */
const CONTINUOUS_GROUPS = new Set<MetricInfo['group']>(['effort', 'cost', 'time']);
/** How the error is divided among the families of metrics. */
const FAMILY_WEIGHTS = { headline: 0.5, secondary: 0.2, quality: 0.1, effort: 0.2 };

/** One metric in two arms, on the same cases in the same order. */
export interface ColumnPair {
  metric: Pick<MetricInfo, 'id' | 'kind' | 'better' | 'group' | 'unit'>;
  arm: MetricColumn;
  baseline: MetricColumn;
}

interface CompareOptions {
  caseIds: readonly string[];
  units: SamplingUnits;
  sample: BootstrapSampler;
  seed: number;
  /** Equivalence margin: absolute for shares, else relative to the value of the baseline. */
  margin: number;
  /** Permutations of the test; a default that suits reports. */
  permutations?: number;
}

/** A pair with its test, before the correction over all tests. */
interface MeasuredPair {
  pair: ColumnPair;
  comparison: Omit<MetricComparison, 'adjustedP' | 'conclusion' | 'needed'>;
  /** What a relative difference of 1 is: 1 for shares, else the value of the baseline. */
  scale: number;
  clusters: number;
  differing: number;
  intervalAt: (level: number) => [number, number] | null;
}

/**
 * Compares each arm with the baseline, metric by metric: McNemar's exact test for pass-or-fail metrics on independent
 * cases, permutations of whole units for the rest, and one correction over all metrics and arms. Metrics without pairs
 * are left out.
 */
export function compareColumns(
  arms: readonly (readonly ColumnPair[])[],
  options: CompareOptions,
): MetricComparison[][] {
  const measured = arms.map((pairs) => {
    const usable = pairs
      .map(keepPairedCases)
      .filter(({ arm, baseline }) => Number.isFinite(columnRatio(arm) - columnRatio(baseline)));
    const samples = options.sample(usable.flatMap(({ arm, baseline }) => [arm, baseline]));
    return usable.map((pair, index) => {
      const ofArm = samples[2 * index] as Float64Array;
      const ofBaseline = samples[2 * index + 1] as Float64Array;
      const differences = ofArm.map((value, replicate) => value - (ofBaseline[replicate] ?? Number.NaN));
      return measurePair(pair, differences, options);
    });
  });
  const adjusted = correctAll(measured.flat());
  return measured.map((ofArm) =>
    ofArm.map((one) =>
      concludePair(one, adjusted.get(one) ?? null, { margin: options.margin, arms: arms.length }),
    ),
  );
}

/** A mean is compared on the cases that have it in both arms; a ratio takes the counts of each arm. */
function keepPairedCases({ metric, arm, baseline }: ColumnPair): ColumnPair {
  if (metric.kind === 'ratio') return { metric, arm, baseline };
  const isPaired = (index: number) => (arm.of[index] ?? 0) > 0 && (baseline.of[index] ?? 0) > 0;
  return { metric, arm: filterColumn(arm, isPaired), baseline: filterColumn(baseline, isPaired) };
}

function measurePair(pair: ColumnPair, differences: Float64Array, options: CompareOptions): MeasuredPair {
  const { metric, arm, baseline } = pair;
  const { units, caseIds, seed, permutations } = options;
  const { higher, lower, n } = splitCases(arm, baseline);
  const isBinary = metric.kind === 'binary' && isPassOrFail(arm) && isPassOrFail(baseline);
  const isClustered = units.clusters < units.unitOf.length;
  const test = isBinary && !isClustered ? 'mcnemar' : 'swaps';
  const [armUnits, baselineUnits] = [sumByUnit(arm, units), sumByUnit(baseline, units)];
  const differing =
    test === 'mcnemar' ? higher.length + lower.length : differingUnits(armUnits, baselineUnits).length;
  const intervalAt = (level: number): [number, number] | null => {
    const sampled = percentileInterval(differences, level);
    if (!isBinary) return sampled;
    const exact = tangoInterval(higher.length, lower.length, n, normalQuantile((1 - level) / 2));
    if (!isClustered || sampled === null) return exact;
    return [Math.min(sampled[0], exact[0]), Math.max(sampled[1], exact[1])];
  };
  // The smallest p that this many differing units can reach: 2^(1 - differing).
  const isTestable = 2 ** (1 - differing) < ALPHA;
  const p =
    test === 'mcnemar'
      ? () => mcNemarTest(higher.length, lower.length)
      : () => permutationTest(armUnits, baselineUnits, seed, permutations);
  const [better, worse] = metric.better === 'higher' ? [higher, lower] : [lower, higher];
  const toIds = (indices: number[]) =>
    CONTINUOUS_GROUPS.has(metric.group) ? [] : indices.map((index) => caseIds[index] ?? '');
  return {
    pair,
    scale: metric.unit === 'share' ? 1 : Math.abs(columnRatio(baseline)),
    clusters: armUnits.of.filter((of, unit) => of + (baselineUnits.of[unit] ?? 0) > 0).length,
    differing,
    intervalAt,
    comparison: {
      metric: metric.id,
      test,
      n,
      difference: columnRatio(arm) - columnRatio(baseline),
      interval: n < 2 ? null : intervalAt(1 - ALPHA),
      p: isTestable ? p() : null,
      better: toIds(better),
      worse: toIds(worse),
    },
  };
}

/** Adjusted p values. Pairs that cannot be tested are left out, so that they cost the others no power (Tarone). */
function correctAll(measured: readonly MeasuredPair[]): Map<MeasuredPair, number> {
  const tested = measured.filter(({ comparison }) => comparison.p !== null);
  const families = Map.groupBy(tested, familyOf);
  const adjusted = holmCorrection(
    tested.map(({ comparison }) => comparison.p ?? 1),
    tested.map((one) => FAMILY_WEIGHTS[familyOf(one)] / (families.get(familyOf(one))?.length ?? 1)),
  );
  return new Map(tested.map((one, index) => [one, adjusted[index] ?? 1]));
}

function familyOf({ pair: { metric } }: MeasuredPair): keyof typeof FAMILY_WEIGHTS {
  if (metric.id === HEADLINE_METRIC) return 'headline';
  if (SECONDARY_METRICS.includes(metric.id)) return 'secondary';
  return CONTINUOUS_GROUPS.has(metric.group) ? 'effort' : 'quality';
}

function concludePair(
  measured: MeasuredPair,
  adjustedP: number | null,
  { margin, arms }: { margin: number; arms: number },
): MetricComparison {
  const { pair, comparison, scale } = measured;
  const equivalenceAlpha = ALPHA / arms;
  const isGain = comparison.difference > 0 === (pair.metric.better === 'higher');
  const conclusion = isEquivalent(measured, margin, equivalenceAlpha)
    ? 'equivalent'
    : adjustedP === null
      ? 'too few'
      : adjustedP >= ALPHA
        ? 'undecided'
        : isGain
          ? 'better'
          : 'worse';
  const isOpen = conclusion === 'undecided' || conclusion === 'too few';
  const needed = isOpen && scale > 0 ? casesToDecide(measured, { margin, arms, equivalenceAlpha }) : null;
  return { ...comparison, adjustedP, conclusion, needed };
}

/** Two one-sided tests. Units that all agree show no spread, so one more that differs entirely is allowed for. */
function isEquivalent(
  { comparison, scale, clusters, intervalAt }: MeasuredPair,
  margin: number,
  alpha: number,
): boolean {
  const interval = comparison.n < 2 ? null : intervalAt(1 - 2 * alpha);
  if (interval === null) return false;
  const z2 = normalQuantile(alpha) ** 2;
  const unseen = z2 / (clusters + z2);
  const largest = Math.max(
    Math.abs(interval[0]),
    Math.abs(interval[1]),
    Math.abs(comparison.difference) + unseen * scale,
  );
  return unseen <= margin && largest <= margin * scale + EPSILON;
}

function casesToDecide(
  { pair, comparison, scale, clusters, differing }: MeasuredPair,
  { margin, arms, equivalenceAlpha }: { margin: number; arms: number; equivalenceAlpha: number },
): number | null {
  // Half a unit is added either way, so that five of five do not count as certain.
  const doubt = 1 / (clusters + 2);
  const units = estimateUnitsToDecide({
    n: clusters,
    difference: (comparison.difference / scale) * (1 - 2 * doubt),
    differing: (differing + 1) * doubt,
    deviation: Math.hypot(pairedDeviation(pair.arm, pair.baseline) / scale, Math.sqrt(doubt) / 2),
    margin,
    alpha: ALPHA / 2 / arms,
    equivalenceAlpha,
  });
  return units === null ? null : Math.ceil((units * comparison.n) / clusters);
}

/** The cases on which the value of the arm is higher and lower. */
function splitCases(arm: MetricColumn, baseline: MetricColumn) {
  const higher: number[] = [];
  const lower: number[] = [];
  let n = 0;
  arm.of.forEach((_, index) => {
    const ofArm = caseValueAt(arm, index);
    const ofBaseline = caseValueAt(baseline, index);
    if (ofArm !== null || ofBaseline !== null) n += 1;
    if (ofArm === null || ofBaseline === null) return;
    if (ofArm - ofBaseline > EPSILON) higher.push(index);
    if (ofArm - ofBaseline < -EPSILON) lower.push(index);
  });
  return { higher, lower, n };
}

/** Whether every case is 0 or 1, which repeats can change. */
function isPassOrFail(column: MetricColumn): boolean {
  return column.sum.every((sum, index) => sum === 0 || sum === column.of[index]);
}
