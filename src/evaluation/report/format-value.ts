import { counted } from '../../text/phrasing.ts';
import type { MetricComparison } from './comparison.ts';
import type { MetricInfo, MetricValue } from './metric-value.ts';

export type KnownValue = Extract<MetricValue, { status: 'value' }>;

export function knownValue(value: MetricValue | undefined): KnownValue | null {
  return value?.status === 'value' ? value : null;
}

/** A value as people read it, in at most seven characters. */
export function formatValue(value: number, unit: MetricInfo['unit']): string {
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

/** A p value as papers write it; what could not be tested has none. */
export function formatP(p: number | null): string {
  if (p === null) return 'too few differ to test';
  if (p < 0.001) return 'p < 0.001';
  return `p = ${p < 0.1 ? Number(p.toPrecision(2)) : p.toFixed(2)}`;
}

export function formatPercent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** A difference of shares as people say it: 5 points are 0.05. */
export function formatPoints(share: number): string {
  const points = Number((share * 100).toFixed(1));
  return counted(points, 'point');
}

/** 1.9 times, and so on; null where there is nothing to compare with. */
export function timesAsMuch(value: number, other: number): string | null {
  if (!(other > 0) || !(value >= 0)) return null;
  const ratio = value / other;
  return ratio > 0.95 && ratio < 1.05
    ? 'the same'
    : `${ratio < 0.095 ? ratio.toPrecision(1) : ratio.toFixed(ratio < 9.95 ? 1 : 0)} times the`;
}

/** A, B and C. */
export function joined(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** Whether no case sets two arms apart in a metric, so that there is nothing to show. */
export function isAlike(
  { difference, effect }: Pick<MetricComparison, 'difference' | 'effect'>,
  differing: number,
): boolean {
  return difference === 0 && effect.value === null && differing === 0;
}
