import { HEADLINE_METRIC } from './format-metric.ts';
import type { ArmComparison, MetricComparison, Recommendation } from './report-data.ts';

type Compared = Pick<ArmComparison, 'baseline' | 'arm' | 'metrics'>;
type Conclusion = MetricComparison['conclusion'];

/** The comparison of correct answers. */
export function findHeadline(metrics: readonly MetricComparison[]): MetricComparison | undefined {
  return metrics.find(({ metric }) => metric === HEADLINE_METRIC);
}

/** How one arm compares with another: the conclusion about correct answers, and other proven differences. */
export interface ArmStanding {
  answers: Conclusion | null;
  gains: string[];
  losses: string[];
}

/** Null if the arms were not compared. */
export function findStanding(
  arm: string,
  other: string,
  comparisons: readonly Compared[],
): ArmStanding | null {
  const compared = comparisons.find((one) =>
    [one.arm, one.baseline].every((name) => name === arm || name === other),
  );
  if (compared === undefined) return null;
  const isTurned = compared.baseline === arm;
  const conclude = ({ conclusion }: MetricComparison): Conclusion =>
    isTurned && conclusion === 'better'
      ? 'worse'
      : isTurned && conclusion === 'worse'
        ? 'better'
        : conclusion;
  const headline = findHeadline(compared.metrics);
  const withConclusion = (wanted: Conclusion) =>
    compared.metrics
      .filter((one) => one !== headline && conclude(one) === wanted)
      .map(({ metric }) => metric);
  return {
    answers: headline === undefined ? null : conclude(headline),
    gains: withConclusion('better'),
    losses: withConclusion('worse'),
  };
}

/**
 * Leaves out every arm that another one is proven to beat: by more correct answers, whatever the price, or by as many
 * with gains elsewhere and no losses. Null if no case can be judged.
 */
export function recommendArm(
  arms: readonly string[],
  comparisons: readonly Compared[],
): Recommendation | null {
  if (!comparisons.some(({ metrics }) => findHeadline(metrics) !== undefined)) return null;
  const standing = (arm: string, other: string) => findStanding(arm, other, comparisons);
  const answersMore = (arm: string, other: string) => standing(arm, other)?.answers === 'better';
  const gainsOnly = (arm: string, other: string) => {
    const { answers, gains = [], losses = [] } = standing(arm, other) ?? {};
    return answers === 'equivalent' && gains.length > 0 && losses.length === 0;
  };
  const best = arms.filter((arm) => !arms.some((other) => answersMore(other, arm)));
  const unbeaten = best.filter((arm) => !best.some((other) => gainsOnly(other, arm)));
  // Equivalence is not transitive, so every arm can be beaten by another.
  const left = unbeaten.length > 0 ? unbeaten : best;
  const pairs = comparisons.filter(({ arm, baseline }) => left.includes(arm) && left.includes(baseline));
  const isEqual = ({ metrics }: Compared) => findHeadline(metrics)?.conclusion === 'equivalent';
  const differs = ({ arm, baseline }: Compared) => {
    const { gains = [], losses = [] } = standing(arm, baseline) ?? {};
    return gains.length + losses.length > 0;
  };
  if (left.length === 1) return { kind: 'use', arms: left, needed: null };
  if (pairs.every(isEqual))
    return { kind: pairs.some(differs) ? 'weigh' : 'either', arms: left, needed: null };
  return { kind: 'undecided', arms: left, needed: mostNeeded(pairs.filter((pair) => !isEqual(pair))) };
}

/** Null if one of them cannot be decided by any number of cases. */
function mostNeeded(open: readonly Compared[]): number | null {
  const needed = open.map(({ metrics }) => findHeadline(metrics)?.needed ?? null);
  return needed.includes(null) ? null : Math.max(...needed.map((cases) => cases ?? 0));
}
