import { allMetrics } from '../../../src/evaluation/metrics/all-metrics.ts';
import { type CaseGold, noDataReason, tabulateMetric } from '../../../src/evaluation/metrics/metric.ts';
import type { CaseRun } from '../../../src/evaluation/report/case-run.ts';
import { columnRatio } from '../../../src/evaluation/statistics/metric-column.ts';

/** A metric over cases of one run each, or the reason why there is no data. */
export function measureMetric(id: string, cases: readonly (readonly [CaseRun, CaseGold])[]): number | string {
  const metric = allMetrics.find((one) => one.id === id);
  if (metric === undefined) throw new Error(`There is no metric ${id}.`);
  const all = cases.map(([run, gold], index) => ({ id: String(index), gold, runs: [run] }));
  const value = columnRatio(tabulateMetric(metric, all));
  return Number.isNaN(value) ? noDataReason(metric, all) : value;
}
