import { AppError } from '../../domain/app-error.ts';
import type { CaseRun } from '../report/report-data.ts';
import { type Column, createColumn } from '../statistics/column.ts';
import type { Gold, Metric } from './metric.ts';

/** One case with its runs in one arm. */
export interface Measured {
  id: string;
  gold: Gold;
  runs: readonly CaseRun[];
}

/**
 * What every case adds to a metric in one arm, repeats averaged. Throws `invalid_input` for what is not a number:
 * averaged in, it would spoil the metric, and left out, it would hide.
 */
export function tabulate(metric: Metric, cases: readonly Measured[]): Column {
  const column = createColumn(cases.length);
  cases.forEach(({ id, gold, runs }, index) => {
    if (metric.hasGold?.(gold) === false) return;
    let [sum, of, parts] = [0, 0, 0];
    for (const run of runs) {
      const part = metric.measure(run, gold);
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
      hint: 'The results hold something that cannot be measured; run the case again with --fresh.',
    });
  });
  return column;
}

/** Why a metric has no data. */
export function reasonOf(metric: Metric, cases: readonly Measured[]): string {
  if (cases.length === 0) return 'there are no cases';
  if (metric.needs !== undefined && !cases.some(({ gold }) => metric.hasGold?.(gold) !== false))
    return metric.needs;
  return metric.empty;
}
