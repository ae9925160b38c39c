import { type CaseRuns, type Metric, tabulateMetric } from '../metrics/metric.ts';
import { createSampler } from '../statistics/bootstrap.ts';
import { createSamplingUnits } from '../statistics/column.ts';
import { compareColumns } from '../statistics/compare-columns.ts';
import type { MetricComparison, ReportData } from './report-data.ts';

/** Compares two lists of runs of the same cases, which are among those of the report. */
export function compareMeasured(
  metrics: readonly Metric[],
  after: readonly CaseRuns[],
  before: readonly CaseRuns[],
  { cases, header: { seed, margin } }: Pick<ReportData, 'cases' | 'header'>,
): MetricComparison[] {
  const conversations = new Map(cases.map(({ id, conversation }) => [id, conversation]));
  const caseIds = after.map(({ id }) => id);
  const units = createSamplingUnits(caseIds.map((id) => conversations.get(id) ?? id));
  const pairs = metrics.map((metric) => ({
    metric,
    arm: tabulateMetric(metric, after),
    baseline: tabulateMetric(metric, before),
  }));
  const sample = createSampler(seed, units);
  const [compared = []] = compareColumns([pairs], { caseIds, units, sample, seed, margin });
  return compared;
}
