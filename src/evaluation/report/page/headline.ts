import type { MetricInfo, MetricValue, ReportData } from '../report-data.ts';

/** What the page leads with where the cases allow it. */
const FIRST_CHOICE = 'answer.correct';

/** The metric of quality by which the page ranks and filters; null where no arm has one. */
export function headlineOf({ metrics, arms }: ReportData): MetricInfo | null {
  const isKnown = ({ id }: MetricInfo) => arms.some(({ metrics }) => metrics[id]?.status === 'value');
  const shares = metrics.filter((metric) => metric.unit === 'share' && isKnown(metric));
  return shares.find(({ id }) => id === FIRST_CHOICE) ?? shares[0] ?? null;
}

/** What a turn costs: money where every arm has a price, tokens else; null where neither is known. */
export function priceOf({ metrics, arms }: ReportData): MetricInfo | null {
  const everywhere = (id: string) => arms.every(({ metrics }) => metrics[id]?.status === 'value');
  const known = metrics.filter(({ id }) => id === 'cost.money' || id === 'cost.tokens');
  return (
    known.find(({ id }) => id === 'cost.money' && everywhere(id)) ??
    known.find(
      ({ id }) => id === 'cost.tokens' && arms.some(({ metrics }) => metrics[id]?.status === 'value'),
    ) ??
    null
  );
}

export type KnownValue = Extract<MetricValue, { status: 'value' }>;

export function knownValue(value: MetricValue | undefined): KnownValue | null {
  return value?.status === 'value' ? value : null;
}
