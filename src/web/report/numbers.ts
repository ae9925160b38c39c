import { formatValue, type KnownValue, knownValue } from '../../evaluation/report/format-value.ts';
import type { MetricInfo, MetricValue } from '../../evaluation/report/metric-value.ts';
import type { PageData, PageMetricComparison } from '../../evaluation/report/page-data.ts';

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

/** A value as a sentence has it, for who does not see the plot. */
export function spoken({ value, interval }: KnownValue, unit: Unit): string {
  const within = interval && ` (${readable(interval[0], unit)} to ${readable(interval[1], unit)})`;
  return `${readable(value, unit)}${within ?? ''}`;
}

export type Conclusion = PageMetricComparison['conclusion'];

/** What a conclusion is called where there is no room for a sentence. */
export const CONCLUSIONS: Record<Conclusion, string> = {
  better: 'better',
  worse: 'worse',
  equivalent: 'no difference that matters',
  undecided: 'not decided',
  'too few': 'too few differ',
};

/** Whether a conclusion is drawn with an arrow: what is proven, and more than nobody would care for. */
export function isChange(conclusion: Conclusion): conclusion is 'better' | 'worse' {
  return conclusion === 'better' || conclusion === 'worse';
}

/** The place of the one arm with the best value as it reads; null where fewer than two are known or two tie. */
export function bestOf(
  values: readonly (MetricValue | undefined)[],
  { better, unit }: Pick<MetricInfo, 'better' | 'unit'>,
): number | null {
  const known = values.flatMap((value, place) =>
    value?.status === 'value' ? [{ place, value: value.value }] : [],
  );
  const [first, second] = known.toSorted((a, b) =>
    better === 'higher' ? b.value - a.value : a.value - b.value,
  );
  if (first === undefined || second === undefined) return null;
  return readable(first.value, unit) === readable(second.value, unit) ? null : first.place;
}

/** The metric of quality that the page leads with; null where no arm has one. */
export function headlineOf({ metrics, headline }: PageData): MetricInfo | null {
  return headline === null ? null : (metrics[headline] ?? null);
}

/** What a turn costs: money where every arm has a price, tokens else; null where neither is known. */
export function priceOf({ metrics, arms }: PageData): MetricInfo | null {
  const known = (id: string) => arms.filter(({ metrics }) => knownValue(metrics[id]) !== null).length;
  const metric = (id: string) => metrics.find((candidate) => candidate.id === id) ?? null;
  if (known('cost.money') === arms.length) return metric('cost.money');
  return known('cost.tokens') > 0 ? metric('cost.tokens') : null;
}
