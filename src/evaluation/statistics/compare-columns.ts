import type { MetricComparison, MetricInfo } from '../report/report-data.ts';
import { percentileInterval, type Sampler, twoSidedP } from './bootstrap.ts';
import { type Column, masked, ratioOf, valueAt } from './column.ts';
import { effectOfDifferences, effectOfDiscordant, exactMcNemar, holm } from './significance.ts';

const SIGNIFICANT = 0.05;
/** Rounding must not make two equal cases differ. */
const SAME = 1e-9;

/** One metric in two arms, on the same cases in the same order. */
export interface ColumnPair {
  metric: Pick<MetricInfo, 'id' | 'kind' | 'better' | 'group'>;
  arm: Column;
  baseline: Column;
}

/** Groups whose values differ on nearly every case: naming those cases would tell nobody anything. */
const CONTINUOUS = new Set<MetricInfo['group']>(['effort', 'cost', 'time']);

/**
 * Compares an arm with the first, metric by metric: exact McNemar where cases pass or fail, the paired bootstrap for
 * the rest. Holm's correction covers the measures of quality, and apart from them those of effort, cost and time.
 * Metrics without pairs are left out.
 */
export function compareColumns(
  pairs: readonly ColumnPair[],
  caseIds: readonly string[],
  sample: Sampler,
): MetricComparison[] {
  const usable = pairs.map(paired).filter(({ arm, baseline }) => isDefined(arm) && isDefined(baseline));
  const samples = sample(usable.flatMap(({ arm, baseline }) => [arm, baseline]));
  const compared = usable.map((pair, index) => {
    const ofArm = samples[2 * index] as Float64Array;
    const ofBaseline = samples[2 * index + 1] as Float64Array;
    const differences = ofArm.map((value, replicate) => value - (ofBaseline[replicate] ?? Number.NaN));
    return comparePair(pair, differences, caseIds);
  });
  const attainable = usable.map(leastAttainableP);
  for (const continuous of [false, true]) {
    // What could not be proven even if all of its differing cases agreed takes no power from the rest (Tarone).
    const family = compared.filter(
      (_, index) => isContinuous(usable[index]) === continuous && (attainable[index] ?? 1) < SIGNIFICANT,
    );
    holm(family.map(({ p }) => p)).forEach((adjusted, index) => {
      const comparison = family[index] as MetricComparison;
      comparison.adjustedP = adjusted;
      comparison.significant = adjusted < SIGNIFICANT;
    });
  }
  return compared;
}

function comparePair(
  { metric, arm, baseline }: ColumnPair,
  differences: Float64Array,
  caseIds: readonly string[],
): MetricComparison {
  const { higher, lower, n } = splitCases(metric, arm, baseline);
  const isBinary = metric.kind === 'binary';
  const [better, worse] = metric.better === 'higher' ? [higher, lower] : [lower, higher];
  const named = (indices: number[]) =>
    CONTINUOUS.has(metric.group) ? [] : indices.map((index) => caseIds[index] ?? '');
  const p = isBinary
    ? exactMcNemar(higher.length, lower.length)
    : Math.max(twoSidedP(differences), leastAttainableP({ metric, arm, baseline }));
  return {
    metric: metric.id,
    test: isBinary ? 'mcnemar' : 'bootstrap',
    n,
    difference: ratioOf(arm) - ratioOf(baseline),
    interval: n < 2 ? null : percentileInterval(differences),
    p,
    // Until the correction finds that it could be proven at all.
    adjustedP: 1,
    significant: false,
    effect: isBinary ? effectOfDiscordant(higher.length, lower.length) : effectOfDifferences(arm, baseline),
    better: named(better),
    worse: named(worse),
  };
}

/**
 * The smallest p that so many differing cases can reach: that of a sign test on which all of them agree. The bootstrap
 * knows only the cases it has and on few of them sees too little spread, so it must not go below either.
 */
function leastAttainableP({ metric, arm, baseline }: ColumnPair): number {
  if (metric.kind !== 'binary') return Math.min(1, 2 ** (1 - countDiffering(arm, baseline)));
  const { higher, lower } = splitCases(metric, arm, baseline);
  const differing = higher.length + lower.length;
  return Math.min(1, 2 ** (1 - differing));
}

function countDiffering(arm: Column, baseline: Column): number {
  return arm.sum.reduce((count, sum, index) => {
    const isSame =
      Math.abs(sum - (baseline.sum[index] ?? 0)) <= SAME &&
      Math.abs((arm.of[index] ?? 0) - (baseline.of[index] ?? 0)) <= SAME;
    return isSame ? count : count + 1;
  }, 0);
}

/** The cases on which the arm's value is higher and lower. With repeats a binary case passes by majority. */
function splitCases(metric: ColumnPair['metric'], arm: Column, baseline: Column) {
  const higher: number[] = [];
  const lower: number[] = [];
  let n = 0;
  const settled = (value: number) => (metric.kind === 'binary' ? Number(value > 0.5) : value);
  arm.of.forEach((_, index) => {
    const ofArm = valueAt(arm, index);
    const ofBaseline = valueAt(baseline, index);
    if (ofArm !== null || ofBaseline !== null) n += 1;
    if (ofArm === null || ofBaseline === null) return;
    const difference = settled(ofArm) - settled(ofBaseline);
    if (difference > SAME) higher.push(index);
    if (difference < -SAME) lower.push(index);
  });
  return { higher, lower, n };
}

/** Of a mean, only cases that have it in both arms; a ratio takes each arm's own counts of the same cases. */
function paired({ metric, arm, baseline }: ColumnPair): ColumnPair {
  if (metric.kind === 'ratio') return { metric, arm, baseline };
  const inBoth = (index: number) => (arm.of[index] ?? 0) > 0 && (baseline.of[index] ?? 0) > 0;
  return { metric, arm: masked(arm, inBoth), baseline: masked(baseline, inBoth) };
}

function isContinuous(pair: ColumnPair | undefined): boolean {
  return pair !== undefined && CONTINUOUS.has(pair.metric.group);
}

function isDefined(column: Column): boolean {
  return Number.isFinite(ratioOf(column));
}
