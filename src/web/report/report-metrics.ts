import { formatMetricValue } from '../../evaluation/report/format-metric.ts';
import type { MetricComparison, MetricInfo } from '../../evaluation/report/report-data.ts';

type Unit = MetricInfo['unit'];

export function formatInterval(
  [low, high]: readonly [number, number],
  unit: Unit,
  format: (value: number, unit: Unit) => string = formatMetricValue,
): string {
  return `${format(low, unit)} to ${format(high, unit)}`;
}

export const CONCLUSION_LABELS: Record<MetricComparison['conclusion'], string> = {
  better: '▲ better',
  worse: '▼ worse',
  equivalent: '= equivalent',
  undecided: '○ undecided',
  'too few': '○ too few cases differ',
};
