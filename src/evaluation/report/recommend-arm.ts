import { HEADLINE_METRIC, SECONDARY_METRICS } from '../statistics/compare-columns.ts';
import type { ArmComparison, ArmStanding, MetricComparison, Recommendation } from './report-data.ts';

/** Money if both arms have a price, else tokens. */
export function findPriceMetric(metrics: readonly Pick<MetricComparison, 'metric'>[]): string | null {
  return ['cost.money', 'cost.tokens'].find((id) => metrics.some(({ metric }) => metric === id)) ?? null;
}

/** The comparison of correct answers. */
export function findHeadline(metrics: readonly MetricComparison[]): MetricComparison | undefined {
  return metrics.find(({ metric }) => metric === HEADLINE_METRIC);
}

/** Sorts the conclusions about an arm into what a recommendation considers. */
export function toArmStanding(metrics: readonly MetricComparison[]): ArmStanding {
  const considered = [...SECONDARY_METRICS, ...[findPriceMetric(metrics) ?? []].flat()];
  const withConclusion = (...conclusions: MetricComparison['conclusion'][]) =>
    considered.filter((id) =>
      metrics.some(({ metric, conclusion }) => metric === id && conclusions.includes(conclusion)),
    );
  return {
    answers: findHeadline(metrics)?.conclusion ?? null,
    gains: withConclusion('better'),
    losses: withConclusion('worse'),
    undecided: withConclusion('undecided', 'too few'),
  };
}

type Compared = Pick<ArmComparison, 'arm' | 'metrics' | 'standing'>;

/** Recommends an arm on proven conclusions only. Null if no case can be judged. */
export function recommendArm(baseline: string, comparisons: readonly Compared[]): Recommendation | null {
  const withAnswers = (...conclusions: ArmStanding['answers'][]) =>
    comparisons.filter(({ standing }) => conclusions.includes(standing.answers));
  const equal = withAnswers('equivalent');
  const difference = ({ metrics }: Compared) => findHeadline(metrics)?.difference ?? 0;
  const better = withAnswers('better').toSorted((a, b) => difference(b) - difference(a));
  const gaining = equal
    .filter(({ standing }) => standing.gains.length > 0 && standing.losses.length === 0)
    .toSorted((a, b) => b.standing.gains.length - a.standing.gains.length);
  const mixed = equal.filter(({ standing }) => standing.gains.length > 0 && standing.losses.length > 0);
  const alike = equal.filter(({ standing }) => standing.gains.length + standing.losses.length === 0);
  const open = withAnswers('undecided', 'too few');
  const toRecommendation = (kind: Recommendation['kind'], arms: readonly Compared[]) => ({
    kind,
    arms: arms.map(({ arm }) => arm),
    needed: null,
  });
  const [taken] = [...better, ...gaining];
  if (taken !== undefined) return toRecommendation('take', [taken]);
  if (open.length > 0) return { ...toRecommendation('undecided', open), needed: mostNeeded(open) };
  if (mixed.length > 0) return toRecommendation('weigh', mixed);
  if (alike.length > 0) return toRecommendation('either', alike);
  const isJudged = comparisons.some(({ standing }) => standing.answers !== null);
  return isJudged ? { kind: 'keep', arms: [baseline], needed: null } : null;
}

/** Null if one of them cannot be decided by any number of cases. */
function mostNeeded(open: readonly Compared[]): number | null {
  const needed = open.map(({ metrics }) => findHeadline(metrics)?.needed ?? null);
  return needed.includes(null) ? null : Math.max(...needed.map((cases) => cases ?? 0));
}
