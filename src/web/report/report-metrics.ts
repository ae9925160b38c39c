import { formatMetricValue, toKnownValue } from '../../evaluation/report/format-metric.ts';
import type { MetricComparison, MetricInfo, ReportData } from '../../evaluation/report/report-data.ts';

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
