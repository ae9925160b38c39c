import type { CaseRun, MetricInfo, ReportCase } from '../report/report-data.ts';

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
}

/** A run that passes or fails. */
export function passed(pass: boolean): Contribution {
  return { sum: pass ? 1 : 0, of: 1 };
}

/** A run with a value of its own, to be averaged. */
export function value(amount: number): Contribution {
  return { sum: amount, of: 1 };
}
