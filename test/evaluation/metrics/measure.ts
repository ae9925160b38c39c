import { allMetrics } from '../../../src/evaluation/metrics/all-metrics.ts';
import type { Gold } from '../../../src/evaluation/metrics/metric.ts';
import { reasonOf, tabulate } from '../../../src/evaluation/metrics/metric.ts';
import type { CaseRun } from '../../../src/evaluation/report/case-run.ts';
import { ratioOf } from '../../../src/evaluation/statistics/column.ts';

export type { Gold };

/** A metric over cases of one run each, or why there is no data. */
export function metricValueIn(id: string, cases: readonly (readonly [CaseRun, Gold])[]): number | string {
  const metric = allMetrics.find((one) => one.id === id);
  if (metric === undefined) throw new Error(`There is no metric ${id}.`);
  const all = cases.map(([run, gold], index) => ({ id: String(index), gold, runs: [run] }));
  const value = ratioOf(tabulate(metric, all));
  return Number.isNaN(value) ? reasonOf(metric, all) : value;
}
