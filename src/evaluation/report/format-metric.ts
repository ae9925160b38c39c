import { formatCount } from '../../text/format-count.ts';
import type { GateResult, MetricComparison, MetricInfo, MetricValue } from './report-data.ts';

/** The metric that decides first. */
export const HEADLINE_METRIC = 'answer.correct';

export type KnownMetricValue = Extract<MetricValue, { status: 'value' }>;

export function toKnownValue(value: MetricValue | undefined): KnownMetricValue | null {
  return value?.status === 'value' ? value : null;
}

/** At most seven characters. */
export function formatMetricValue(value: number, unit: MetricInfo['unit']): string {
  switch (unit) {
    case 'share':
      return value.toFixed(3);
    case 'number':
      return value.toFixed(2);
    case 'tokens':
      return value.toFixed(0);
    case 'money':
      return value === 0 ? '0' : value.toPrecision(3);
    case 'ms':
      return value < 9950 ? `${value.toFixed(0)} ms` : `${(value / 1000).toFixed(1)} s`;
  }
}

/** With a sign, unless it rounds to zero. */
export function formatMetricDifference(difference: number, unit: MetricInfo['unit']): string {
  const text = formatMetricValue(Math.abs(difference), unit);
  return `${/[1-9]/.test(text) ? (difference > 0 ? '+' : '-') : ''}${text}`;
}

export function formatPValue(p: number | null): string {
  if (p === null) return 'too few cases differ to test';
  if (p < 0.001) return 'p < 0.001';
  return `p = ${p < 0.1 ? Number(p.toPrecision(2)) : p.toFixed(2)}`;
}

export function formatConclusion(conclusion: MetricComparison['conclusion']): string {
  return conclusion === 'too few' ? 'too few cases' : conclusion;
}

export function formatPercent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** A difference of shares in percentage points. */
export function formatPoints(share: number): string {
  return formatCount(Number((share * 100).toFixed(1)), 'point');
}

/** "A, B and C" */
export function joinWords(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** Whether a metric has the same value on every case of two arms. */
export function hasNoDifference({ difference, better, worse }: MetricComparison): boolean {
  return difference === 0 && better.length + worse.length === 0;
}

/** "1 of 2 gates failed"; null if none failed. */
export function formatFailedGates(gates: readonly GateResult[]): string | null {
  const failed = gates.filter(({ passed }) => !passed);
  return failed.length === 0 ? null : `${failed.length} of ${formatCount(gates.length, 'gate')} failed`;
}

export function formatInterval(
  [low, high]: readonly [number, number],
  unit: MetricInfo['unit'],
  format = formatMetricValue,
): string {
  return `${format(low, unit)} to ${format(high, unit)}`;
}
