import type { Metric } from '../metrics/metric.ts';
import { type Measured, reasonOf } from '../metrics/tabulate.ts';
import { percentileInterval, type Sampler } from '../statistics/bootstrap.ts';
import { type Column, ratioOf } from '../statistics/column.ts';
import { wilsonInterval } from '../statistics/wilson.ts';
import type { MetricValue } from './report-data.ts';

/** The values of one arm with their intervals, by the id of the metric. */
export function metricValues(
  metrics: readonly Metric[],
  columns: readonly Column[],
  cases: readonly Measured[],
  sample: Sampler,
): Record<string, MetricValue> {
  const samples = sample(columns);
  return Object.fromEntries(
    metrics.map((metric, index) => {
      const column = columns[index] as Column;
      return [metric.id, measuredValue(metric, column, samples[index] as Float64Array, cases)];
    }),
  );
}

function measuredValue(
  metric: Metric,
  column: Column,
  samples: Float64Array,
  cases: readonly Measured[],
): MetricValue {
  const value = ratioOf(column);
  if (!Number.isFinite(value)) return { status: 'no data', reason: reasonOf(metric, cases) };
  const n = column.of.reduce((count, of) => count + (of > 0 ? 1 : 0), 0);
  return { status: 'value', value, interval: n < 2 ? null : intervalOf(metric, value, n, samples), n };
}

/** Where all cases agree on 0 or 1 no sample differs; the interval of a share of as many cases is honest. */
function intervalOf(
  metric: Metric,
  value: number,
  n: number,
  samples: Float64Array,
): [number, number] | null {
  const agree = metric.unit === 'share' && (value === 0 || value === 1);
  return metric.kind === 'binary' || agree ? wilsonInterval(value, n) : percentileInterval(samples);
}
