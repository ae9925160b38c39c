import type { CaseRun } from '../report/case-run.ts';
import { HEADLINE_METRIC } from '../report/format-metric.ts';
import type { MetricInfo, ReportCase, ReportData } from '../report/report-data.ts';
import type { ColumnPair, CompareOptions } from '../statistics/compare-columns.ts';
import { createColumn, createSamplingUnits, type MetricColumn } from '../statistics/metric-column.ts';

/** What is known about the right answer to a case. */
export type CaseGold = Pick<ReportCase, 'answerable' | 'needsRetrieval' | 'expected'>;

/**
 * What one run adds to a metric. Over all cases the metric is the sum of `sum` divided by the sum of `of`: a mean if
 * `of` is 1, a precision if `of` counts what was found.
 */
export interface MetricContribution {
  sum: number;
  of: number;
}

export interface Metric extends Omit<MetricInfo, 'primary'> {
  /** Whether a case has the gold that the metric needs; without it every case counts. */
  hasGold?(gold: CaseGold): boolean;
  /** Why there is no data if no case has that gold, for example "no case has expectedSources". */
  needs?: string;
  /** Why there is no data although there is gold, for example "nothing was cited"; `needs` if not given. */
  empty?: string;
  /** Null if the run does not count. Called only for cases with gold. */
  measure(run: CaseRun, gold: CaseGold): MetricContribution | null;
  /** Replaces `measure` for metrics over all runs of a case. */
  measureCase?(runs: readonly CaseRun[], gold: CaseGold): MetricContribution | null;
}

export function passContribution(pass: boolean): MetricContribution {
  return { sum: pass ? 1 : 0, of: 1 };
}

export function valueContribution(value: number): MetricContribution {
  return { sum: value, of: 1 };
}

/** One case with its runs in one arm. */
export interface CaseRuns {
  id: string;
  gold: CaseGold;
  runs: readonly CaseRun[];
}

/** What every case adds to a metric in one arm, averaged over repeats. */
export function tabulateMetric(metric: Metric, cases: readonly CaseRuns[]): MetricColumn {
  const column = createColumn(cases.length);
  cases.forEach(({ gold, runs }, index) => {
    if (metric.hasGold?.(gold) === false) return;
    const measured =
      metric.measureCase === undefined
        ? runs.map((run) => metric.measure(run, gold))
        : [metric.measureCase(runs, gold)];
    const counted = measured.filter((contribution) => contribution !== null);
    if (counted.length === 0) return;
    const sum = counted.reduce((total, contribution) => total + contribution.sum, 0);
    const of = counted.reduce((total, contribution) => total + contribution.of, 0);
    column.sum[index] = sum / counted.length;
    column.of[index] = of / counted.length;
  });
  return column;
}

/** Why a metric has no data. */
export function noDataReason(metric: Metric, cases: readonly CaseRuns[]): string {
  const lacksGold = !cases.some(({ gold }) => metric.hasGold?.(gold) !== false);
  const { needs = '', empty = needs } = metric;
  return lacksGold && needs !== '' ? needs : empty;
}

/** The metrics in which arms are tested. Money if `hasMoney`, else tokens. All others are descriptive. */
export function selectPrimaryMetrics(metrics: readonly Metric[], hasMoney: boolean): Metric[] {
  const ids = [HEADLINE_METRIC, 'abstention.recall', hasMoney ? 'cost.money' : 'cost.tokens', 'time.total'];
  return ids.flatMap((id) => metrics.find((metric) => metric.id === id) ?? []);
}

/** The columns of two lists of runs of the same cases, and how to compare them. */
export function pairRuns(
  metrics: readonly Metric[],
  after: readonly CaseRuns[],
  before: readonly CaseRuns[],
  { cases, header: { seed, margin } }: Pick<ReportData, 'cases' | 'header'>,
): { pairs: ColumnPair[]; options: CompareOptions } {
  const conversations = new Map(cases.map(({ id, conversation }) => [id, conversation]));
  const caseIds = after.map(({ id }) => id);
  const units = createSamplingUnits(caseIds.map((id) => conversations.get(id) ?? id));
  const pairs = metrics.map((metric) => ({
    metric,
    arm: tabulateMetric(metric, after),
    baseline: tabulateMetric(metric, before),
  }));
  return { pairs, options: { caseIds, units, seed, margin } };
}
