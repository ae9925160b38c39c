import { formatMetricValue, toKnownValue } from '../../evaluation/report/format-metric.ts';
import type {
  MetricComparison,
  MetricInfo,
  MetricValue,
  ReportData,
} from '../../evaluation/report/report-data.ts';

type Unit = MetricInfo['unit'];

/** With a plus or minus sign, unless the value rounds to zero. */
export function formatSignedValue(value: number, unit: Unit): string {
  const text = formatMetricValue(Math.abs(value), unit);
  if (!/[1-9]/.test(text)) return text;
  return value < 0 ? `\u2212${text}` : `+${text}`;
}

export function formatInterval(
  [low, high]: readonly [number, number],
  unit: Unit,
  format: (value: number, unit: Unit) => string = formatMetricValue,
): string {
  return `${format(low, unit)} to ${format(high, unit)}`;
}

type Conclusion = MetricComparison['conclusion'];

export const CONCLUSION_LABELS: Record<Conclusion, string> = {
  better: '▲ better',
  worse: '▼ worse',
  equivalent: '= equivalent',
  undecided: '○ undecided',
  'too few': '○ too few cases differ',
};

/** The index of the best value as displayed; null if fewer than two are known or the best two are equal. */
export function findBestValue(
  values: readonly (MetricValue | undefined)[],
  { better, unit }: Pick<MetricInfo, 'better' | 'unit'>,
): number | null {
  const known = values.flatMap((value, index) =>
    value?.status === 'value' ? [{ index, value: value.value }] : [],
  );
  const [first, second] = known.toSorted((a, b) =>
    better === 'higher' ? b.value - a.value : a.value - b.value,
  );
  if (first === undefined || second === undefined) return null;
  return formatMetricValue(first.value, unit) === formatMetricValue(second.value, unit) ? null : first.index;
}

/** The quality metric that decides whether a case is correct; null if no arm has one. */
export function findHeadlineMetric({
  metrics,
  arms,
}: Pick<ReportData, 'metrics' | 'arms'>): MetricInfo | null {
  const shares = metrics.filter(
    ({ id, unit }) => unit === 'share' && arms.some((arm) => toKnownValue(arm.metrics[id]) !== null),
  );
  return shares.find(({ id }) => id === 'answer.correct') ?? shares[0] ?? null;
}

/** Money if every arm has a price, otherwise tokens; null if neither is known. */
export function findCostMetric({ metrics, arms }: Pick<ReportData, 'metrics' | 'arms'>): MetricInfo | null {
  const known = (id: string) => arms.filter((arm) => toKnownValue(arm.metrics[id]) !== null).length;
  const metric = (id: string) => metrics.find((candidate) => candidate.id === id) ?? null;
  if (known('cost.money') === arms.length) return metric('cost.money');
  return known('cost.tokens') > 0 ? metric('cost.tokens') : null;
}
