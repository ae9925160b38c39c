import { advice, setting } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import type { CaseRun } from '../report/case-run.ts';
import type { MetricInfo } from '../report/metric-value.ts';
import type { ReportCase } from '../report/report-case.ts';
import { type Column, createColumn } from '../statistics/column.ts';

/** What is known about the right answer to a case. */
export type Gold = Pick<ReportCase, 'answerable' | 'needsRetrieval' | 'expected'>;

/**
 * What one run adds to a metric. Over all cases the metric is the sum of `sum` by the sum of `of`: a mean where
 * `of` is 1, a precision where it counts what was found, F1 where it counts both sides.
 */
export interface Contribution {
  sum: number;
  of: number;
}

export interface Metric extends MetricInfo {
  /** Whether a case says what is needed; without it every case does. */
  hasGold?(gold: Gold): boolean;
  /** Why there is no data when no case has such gold: "no case has expectedSources". */
  needs?: string;
  /** Why there is no data although there is gold: "nothing was cited". */
  empty: string;
  /** Null where the case or the run has no part in it. Asked only for cases with gold. */
  measure(run: CaseRun, gold: Gold): Contribution | null;
  /** Instead, for what only all runs of a case together show. */
  measureCase?(runs: readonly CaseRun[], gold: Gold): Contribution | null;
}

/** Why there is no data where only runs that came to an end count. */
export const ALL_FAILED = 'every run ended in an error';

/** A run that passes or fails. */
export function passed(pass: boolean): Contribution {
  return { sum: pass ? 1 : 0, of: 1 };
}

/** A run with a value of its own, to be averaged. */
export function value(amount: number): Contribution {
  return { sum: amount, of: 1 };
}

/** One case with its runs in one arm. */
export interface CaseRuns {
  id: string;
  gold: Gold;
  runs: readonly CaseRun[];
}

/**
 * What every case adds to a metric in one arm, repeats averaged. Throws `invalid_input` for what is not a number:
 * averaged in, it would spoil the metric, and left out, it would hide.
 */
export function tabulate(metric: Metric, cases: readonly CaseRuns[]): Column {
  const column = createColumn(cases.length);
  cases.forEach(({ id, gold, runs }, index) => {
    if (metric.hasGold?.(gold) === false) return;
    let [sum, of, parts] = [0, 0, 0];
    const measured =
      metric.measureCase === undefined
        ? runs.map((run) => metric.measure(run, gold))
        : [metric.measureCase(runs, gold)];
    for (const part of measured) {
      if (part === null) continue;
      sum += part.sum;
      of += part.of;
      parts += 1;
    }
    if (parts === 0) return;
    column.sum[index] = sum / parts;
    column.of[index] = of / parts;
    if (Number.isFinite(sum) && Number.isFinite(of)) return;
    throw new AppError('invalid_input', `${metric.id} of case "${id}" is not a number.`, {
      hint: advice`The results hold something that cannot be measured; run the case again with ${setting('fresh')}.`,
    });
  });
  return column;
}

/** Why a metric has no data. */
export function reasonOf(metric: Metric, cases: readonly CaseRuns[]): string {
  if (cases.length === 0) return 'there are no cases';
  if (metric.needs !== undefined && !cases.some(({ gold }) => metric.hasGold?.(gold) !== false))
    return metric.needs;
  return metric.empty;
}
