import type { CaseRun } from '../report/case-run.ts';
import { canBeCorrect, isCorrect, NEEDS_CORRECT } from './answer-metrics.ts';
import { type Gold, type Metric, passed } from './metric.ts';

const repeats = {
  group: 'repeat',
  unit: 'share',
  kind: 'binary',
  hasGold: canBeCorrect,
  needs: NEEDS_CORRECT,
  empty: 'every question was asked once (--repeat 3)',
  measure: () => null,
} as const;

/** How many of the runs of a case are right. */
export function countRight(runs: readonly CaseRun[], gold: Gold): number {
  return runs.filter((run) => isCorrect(run, gold)).length;
}

/** A metric of all runs of a case together; of a single one it says nothing. */
function overRuns(holds: (right: number, of: number) => boolean): NonNullable<Metric['measureCase']> {
  return (runs, gold) => (runs.length < 2 ? null : passed(holds(countRight(runs, gold), runs.length)));
}

export const passAtK: Metric = {
  ...repeats,
  id: 'repeat.pass_at_k',
  label: 'pass@k',
  better: 'higher',
  description: 'Share of the questions that are answered correctly at least once when asked k times.',
  measureCase: overRuns((right) => right > 0),
};

export const passToTheK: Metric = {
  ...repeats,
  id: 'repeat.pass_all_k',
  label: 'pass^k',
  better: 'higher',
  description: 'Share of the questions that are answered correctly every time when asked k times.',
  measureCase: overRuns((right, of) => right === of),
};

export const flakeRate: Metric = {
  ...repeats,
  id: 'repeat.flaky',
  label: 'Flake rate',
  better: 'lower',
  description: 'Share of the questions that are answered correctly some times and wrongly at others.',
  measureCase: overRuns((right, of) => right > 0 && right < of),
};
