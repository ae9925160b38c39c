import type { MetricComparison } from '../report/comparison.ts';
import type { MetricInfo } from '../report/metric-value.ts';
import { percentileInterval, type Sampler } from './bootstrap.ts';
import { type Column, masked, ratioOf, valueAt } from './column.ts';
import { pairedShareInterval } from './paired-shares.ts';
import { casesToDecide, normalQuantile } from './power.ts';
import { differingUnits, signFlipP } from './sign-flips.ts';
import {
  effectOfDifferences,
  effectOfDiscordant,
  exactMcNemar,
  holm,
  spreadOfDifferences,
} from './significance.ts';
import { gathered, type Units } from './units.ts';

/** The error that all conclusions of a report may have together, and that each claim of equivalence has. */
const ALPHA = 0.05;
/** Rounding must not make two equal cases differ. */
const SAME = 1e-9;
/** What decides first, and half of the error is kept for. */
export const HEADLINE = 'answer.correct';
/** Besides it, what sets arms apart that a person would care for. The rest of quality says much the same as these. */
export const COUNTED: readonly string[] = [
  'answer.clean',
  'citation.precision',
  'abstention.precision',
  'abstention.recall',
  'decision.under',
  'decision.over',
];

/** One metric in two arms, on the same cases in the same order. */
export interface ColumnPair {
  metric: Pick<MetricInfo, 'id' | 'kind' | 'better' | 'group' | 'unit'>;
  arm: Column;
  baseline: Column;
}

interface Comparing {
  caseIds: readonly string[];
  units: Units;
  sample: Sampler;
  seed: number;
  /** Differences that matter to nobody: of a share by so much, of the rest by that part of the first arm's value. */
  margin: number;
  /** Swaps that the test draws; many unless told otherwise. */
  flips?: number;
}

/** Groups whose values differ on nearly every case: naming those cases would tell nobody anything. */
const CONTINUOUS = new Set<MetricInfo['group']>(['effort', 'cost', 'time']);

/** What was measured of a pair, before it is known what else was tested. */
interface Measured {
  pair: ColumnPair;
  comparison: Omit<MetricComparison, 'adjustedP' | 'conclusion' | 'needed'>;
  /** The difference of as large a value as that of the first arm is 1; what else is known of it in this measure. */
  scale: number;
  clusters: number;
  differing: number;
  intervalAt: (level: number) => [number, number] | null;
}

/**
 * Compares arms with the first, metric by metric, and says what of it holds: McNemar's exact test where independent
 * cases pass or fail, swaps of whole conversations for the rest; one correction over all metrics and all arms.
 * Metrics without pairs are left out. A list for each arm.
 */
export function compareColumns(
  arms: readonly (readonly ColumnPair[])[],
  comparing: Comparing,
): MetricComparison[][] {
  const measured = arms.map((pairs) => {
    const usable = pairs.map(paired).filter(({ arm, baseline }) => isDefined(arm) && isDefined(baseline));
    const samples = comparing.sample(usable.flatMap(({ arm, baseline }) => [arm, baseline]));
    return usable.map((pair, index) => {
      const ofArm = samples[2 * index] as Float64Array;
      const ofBaseline = samples[2 * index + 1] as Float64Array;
      const differences = ofArm.map((value, replicate) => value - (ofBaseline[replicate] ?? Number.NaN));
      return measurePair(pair, differences, comparing);
    });
  });
  const adjusted = correct(measured.flat());
  return measured.map((ofArm) =>
    ofArm.map((one) => conclude(one, adjusted.get(one) ?? null, comparing.margin, arms.length)),
  );
}

function measurePair(pair: ColumnPair, differences: Float64Array, comparing: Comparing): Measured {
  const { metric, arm, baseline } = pair;
  const { units, caseIds, seed, flips } = comparing;
  const { higher, lower, n } = splitCases(arm, baseline);
  const isBinary = metric.kind === 'binary' && isPassOrFail(arm) && isPassOrFail(baseline);
  const isClustered = units.clusters < units.unitOf.length;
  const [ofUnits, baselineOfUnits] = [gathered(arm, units), gathered(baseline, units)];
  const differing =
    isBinary && !isClustered ? higher.length + lower.length : differingUnits(ofUnits, baselineOfUnits).length;
  const clusters = ofUnits.of.reduce(
    (count, of, unit) => count + (of + (baselineOfUnits.of[unit] ?? 0) > 0 ? 1 : 0),
    0,
  );
  const scale = metric.unit === 'share' ? 1 : Math.abs(ratioOf(baseline));
  const intervalAt = (level: number) => {
    const drawn = percentileInterval(differences, level);
    if (!isBinary) return drawn;
    const exact = pairedShareInterval(higher.length, lower.length, n, normalQuantile((1 - level) / 2));
    if (!isClustered || drawn === null) return exact;
    return [Math.min(drawn[0], exact[0]), Math.max(drawn[1], exact[1])] as [number, number];
  };
  const counts = [higher.length, lower.length] as const;
  const isTestable = leastAttainableP(differing) < ALPHA;
  const test = isBinary && !isClustered ? 'mcnemar' : 'swaps';
  const [better, worse] = metric.better === 'higher' ? [higher, lower] : [lower, higher];
  const named = (indices: number[]) =>
    CONTINUOUS.has(metric.group) ? [] : indices.map((index) => caseIds[index] ?? '');
  return {
    pair,
    scale,
    // Groups of clusters are put together only where there are more than enough.
    clusters,
    differing,
    intervalAt,
    comparison: {
      metric: metric.id,
      test,
      n,
      difference: ratioOf(arm) - ratioOf(baseline),
      interval: n < 2 ? null : intervalAt(1 - ALPHA),
      p: !isTestable
        ? null
        : test === 'mcnemar'
          ? exactMcNemar(higher.length, lower.length)
          : signFlipP(ofUnits, baselineOfUnits, seed, flips),
      effect: isBinary
        ? effectOfDiscordant(...(isClustered ? signsOf(ofUnits, baselineOfUnits) : counts))
        : effectOfDifferences(ofUnits, baselineOfUnits),
      better: named(better),
      worse: named(worse),
    },
  };
}

/** One correction over all that was tested. What no split of its cases could prove takes no power from the rest (Tarone). */
function correct(measured: readonly Measured[]): Map<Measured, number> {
  const tested = measured.filter(({ comparison }) => comparison.p !== null);
  const families = Map.groupBy(tested, familyOf);
  const weightOf = (one: Measured) => {
    const family = familyOf(one);
    return WEIGHTS[family] / (families.get(family)?.length ?? 1);
  };
  const adjusted = holm(
    tested.map(({ comparison }) => comparison.p ?? 1),
    tested.map(weightOf),
  );
  // Families that have no test leave their part of the error to the others.
  return new Map(tested.map((one, index) => [one, adjusted[index] ?? 1]));
}

const WEIGHTS = { headline: 0.5, counted: 0.2, quality: 0.1, effort: 0.2 };

function familyOf({ pair: { metric } }: Measured): keyof typeof WEIGHTS {
  if (metric.id === HEADLINE) return 'headline';
  if (COUNTED.includes(metric.id)) return 'counted';
  return CONTINUOUS.has(metric.group) ? 'effort' : 'quality';
}

/** What the numbers bear out of one metric: one word, from which all sentences and signs are made. */
function conclude(one: Measured, adjustedP: number | null, margin: number, arms: number): MetricComparison {
  const { pair, comparison, scale, clusters, differing, intervalAt } = one;
  const equivalenceAlpha = ALPHA / arms;
  const { difference, n } = comparison;
  const isProven = adjustedP !== null && adjustedP < ALPHA;
  // Cases that all agree show no spread, but another one might differ by as much as there is.
  const z2 = normalQuantile(equivalenceAlpha) ** 2;
  const unseen = z2 / (clusters + z2);
  const within = n < 2 ? null : intervalAt(1 - 2 * equivalenceAlpha);
  const isEquivalent =
    within !== null &&
    unseen <= margin &&
    Math.max(Math.abs(within[0]), Math.abs(within[1]), Math.abs(difference) + unseen * scale) <=
      margin * scale + SAME;
  const isGain = difference > 0 === (pair.metric.better === 'higher');
  const conclusion = isEquivalent
    ? 'equivalent'
    : isProven
      ? isGain
        ? 'better'
        : 'worse'
      : adjustedP === null
        ? 'too few'
        : 'undecided';
  const isOpen = conclusion === 'undecided' || conclusion === 'too few';
  return {
    ...comparison,
    adjustedP,
    conclusion,
    needed: isOpen && scale > 0 ? neededFor() : null,
  };

  function neededFor(): number | null {
    // Half a case either way, so that five of five are not taken for a law.
    const doubt = 1 / (clusters + 2);
    const { spread } = spreadOfDifferences(pair.arm, pair.baseline);
    // What counts is conversations; more of them come with as many cases as these have.
    const more = casesToDecide({
      n: clusters,
      difference: (difference / scale) * (1 - 2 * doubt),
      differing: (differing + 1) * doubt,
      spread: Math.hypot(spread / scale, Math.sqrt(doubt) / 2),
      margin,
      alpha: ALPHA / 2 / arms,
      equivalenceAlpha,
    });
    return more === null ? null : Math.ceil((more * n) / clusters);
  }
}

/** The units in which the arm has more and less. */
function signsOf(arm: Column, baseline: Column): [number, number] {
  const signs = Array.from(arm.sum, (sum, unit) => Math.sign(sum - (baseline.sum[unit] ?? 0)));
  return [signs.filter((sign) => sign > 0).length, signs.filter((sign) => sign < 0).length];
}

/** The smallest p that so many differing cases can reach: that of a test on which all of them agree. */
function leastAttainableP(differing: number): number {
  return Math.min(1, 2 ** (1 - differing));
}

/** The cases on which the arm's value is higher and lower. */
function splitCases(arm: Column, baseline: Column) {
  const higher: number[] = [];
  const lower: number[] = [];
  let n = 0;
  arm.of.forEach((_, index) => {
    const ofArm = valueAt(arm, index);
    const ofBaseline = valueAt(baseline, index);
    if (ofArm !== null || ofBaseline !== null) n += 1;
    if (ofArm === null || ofBaseline === null) return;
    if (ofArm - ofBaseline > SAME) higher.push(index);
    if (ofArm - ofBaseline < -SAME) lower.push(index);
  });
  return { higher, lower, n };
}

/** Whether every case is 0 or 1: asked several times, it may lie between. */
function isPassOrFail(column: Column): boolean {
  return column.sum.every((sum, index) => sum === 0 || sum === column.of[index]);
}

/** Of a mean, only cases that have it in both arms; a ratio takes each arm's own counts of the same cases. */
function paired({ metric, arm, baseline }: ColumnPair): ColumnPair {
  if (metric.kind === 'ratio') return { metric, arm, baseline };
  const inBoth = (index: number) => (arm.of[index] ?? 0) > 0 && (baseline.of[index] ?? 0) > 0;
  return { metric, arm: masked(arm, inBoth), baseline: masked(baseline, inBoth) };
}

function isDefined(column: Column): boolean {
  return Number.isFinite(ratioOf(column));
}
