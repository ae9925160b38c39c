import { formatValue } from '../format-value.ts';
import type { MetricComparison, MetricInfo, MetricValue } from '../report-data.ts';
import { type Html, html } from './html.ts';

type Unit = MetricInfo['unit'];

const THIN_GROUPS = /\B(?=(\d{3})+(?!\d))/g;

/** As `formatValue`, with thousands set apart and a true minus. */
export function readable(value: number, unit: Unit): string {
  const [, whole = '', rest = ''] = /^(\d*)(.*)$/.exec(formatValue(Math.abs(value), unit)) ?? [];
  const text = `${whole.length > 4 ? whole.replace(THIN_GROUPS, '\u202f') : whole}${rest}`;
  return value < 0 && /[1-9]/.test(text) ? `\u2212${text}` : text;
}

/** With its sign, plus included; no sign where it rounds to nothing. */
export function signed(value: number, unit: Unit): string {
  const text = readable(value, unit);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** Bounds apart by a dash, or by a word where a minus would be misread; a unit that both have is said once. */
export function range([low, high]: readonly [number, number], unit: Unit, show = readable): string {
  const [from, to] = [show(low, unit), show(high, unit)];
  const suffix = / \D+$/.exec(to)?.[0];
  const start = suffix !== undefined && from.endsWith(suffix) ? from.slice(0, -suffix.length) : from;
  return show === readable && low >= 0 ? `${start}\u2013${to}` : `${start} to ${to}`;
}

/** What is not known is said to be so, with the reason; it is never a nought. */
export function noData(reason?: string): Html {
  return html`<span class="none">no data</span>${reason !== undefined && html`<small class="range">${reason}</small>`}`;
}

export function valueWithRange(value: MetricValue | undefined, unit: Unit): Html {
  if (value?.status !== 'value') return noData();
  const { interval } = value;
  return html`<span class="value">${readable(value.value, unit)}</span>${
    interval !== null && html`<small class="range">${range(interval, unit)}</small>`
  }`;
}

export type Change = 'better' | 'worse' | 'not proven';

/** What a comparison proves for the arm, by the direction in which its metric is better. */
export function changeOf(
  { significant, difference }: MetricComparison,
  better: MetricInfo['better'],
): Change {
  if (!significant || difference === 0) return 'not proven';
  return difference > 0 === (better === 'higher') ? 'better' : 'worse';
}

/** The arms with the best value as it reads; none where fewer than two are known or all read alike. */
export function bestOf(
  values: ReadonlyMap<string, MetricValue | undefined>,
  { better, unit }: Pick<MetricInfo, 'better' | 'unit'>,
): ReadonlySet<string> {
  const known = Array.from(values).flatMap(([arm, value]) =>
    value?.status === 'value' ? [{ arm, value: value.value }] : [],
  );
  const sorted = known.toSorted((a, b) => (better === 'higher' ? b.value - a.value : a.value - b.value));
  const [first] = sorted;
  if (first === undefined) return new Set();
  const best = readable(first.value, unit);
  const winners = known.filter(({ value }) => readable(value, unit) === best);
  return new Set(winners.length === known.length ? [] : winners.map(({ arm }) => arm));
}

/** A, B and C. */
export function joined(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
