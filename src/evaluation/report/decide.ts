import { COUNTED, HEADLINE } from '../statistics/compare-columns.ts';
import type { Comparison, Decision, MetricComparison, Standing } from './comparison.ts';
import type { Arm } from './report-data.ts';

/** What a turn costs: money where both arms have a price, tokens else. */
export function priceMetric(metrics: readonly Pick<MetricComparison, 'metric'>[]): string | null {
  const ids = ['cost.money', 'cost.tokens'];
  return ids.find((id) => metrics.some(({ metric }) => metric === id)) ?? null;
}

/** Where an arm stands against the first, by its comparison metric by metric. */
export function standingOf(metrics: readonly MetricComparison[]): Standing {
  const price = priceMetric(metrics);
  const counted = price === null ? COUNTED : [...COUNTED, price];
  const concluded = (conclusion: MetricComparison['conclusion']) =>
    counted.filter((id) => metrics.some((one) => one.metric === id && one.conclusion === conclusion));
  return {
    answers: answersOf(metrics)?.conclusion ?? null,
    gains: concluded('better'),
    losses: concluded('worse'),
    undecided: counted.filter((id) =>
      metrics.some(({ metric, conclusion }) => metric === id && isOpen(conclusion)),
    ),
  };
}

function isOpen(conclusion: MetricComparison['conclusion']): boolean {
  return conclusion === 'undecided' || conclusion === 'too few';
}

export function answersOf<Compared extends Pick<MetricComparison, 'metric'>>(
  metrics: readonly Compared[],
): Compared | undefined {
  return metrics.find(({ metric }) => metric === HEADLINE);
}

type Compared = Pick<Comparison, 'arm' | 'metrics' | 'standing'>;

/** What to do. Null where no case says what is right. */
export function decide(first: Pick<Arm, 'name'>, comparisons: readonly Compared[]): Decision | null {
  const judged = comparisons.filter(({ standing }) => standing.answers !== null);
  if (judged.length === 0) return null;
  const differenceOf = ({ metrics }: Compared) => answersOf(metrics)?.difference ?? 0;
  const better = judged
    .filter(({ standing }) => standing.answers === 'better')
    .toSorted((a, b) => differenceOf(b) - differenceOf(a));
  const equal = judged.filter(({ standing }) => standing.answers === 'equivalent');
  const gaining = equal
    .filter(({ standing }) => standing.gains.length > 0 && standing.losses.length === 0)
    .toSorted((a, b) => b.standing.gains.length - a.standing.gains.length);
  const open = judged.filter(({ standing: { answers } }) => answers !== null && isOpen(answers));
  const mixed = equal.filter(({ standing }) => standing.gains.length > 0 && standing.losses.length > 0);
  const alike = equal.filter(({ standing }) => standing.gains.length + standing.losses.length === 0);
  const about = (kind: Decision['kind'], those: readonly Compared[]): Decision => ({
    kind,
    arms: those.map(({ arm }) => arm),
    needed: null,
  });
  const taken = better[0] ?? gaining[0];
  if (taken !== undefined) return about('take', [taken]);
  if (open.length > 0) return { ...about('undecided', open), needed: mostNeeded(open) };
  if (mixed.length > 0) return about('weigh', mixed);
  if (alike.length > 0) return about('either', alike);
  return { kind: 'keep', arms: [first.name], needed: null };
}

/** As many as decide all of them; null if no number does. */
function mostNeeded(open: readonly Compared[]): number | null {
  const needed = open.map(({ metrics }) => answersOf(metrics)?.needed ?? null);
  return needed.includes(null) ? null : Math.max(...needed.map((count) => count ?? 0));
}
