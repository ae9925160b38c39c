import { canBeCorrect, isCorrect, NEEDS_CORRECT } from './answer-correct.ts';
import { type Metric, value } from './metric.ts';

const shared = { group: 'cost', better: 'lower' } as const;
const ALL_FAILED = 'every run ended in an error';

export const tokens: Metric = {
  ...shared,
  id: 'cost.tokens',
  label: 'Tokens',
  unit: 'tokens',
  kind: 'mean',
  description: 'Tokens in and out, a turn.',
  empty: ALL_FAILED,
  measure: (run) => (run.error === null ? value(run.tokens.total) : null),
};

export const tokensPerCorrect: Metric = {
  ...shared,
  id: 'cost.tokens_per_correct',
  label: 'Tokens per correct one',
  unit: 'tokens',
  kind: 'ratio',
  description: 'All tokens spent on questions that can be judged, by the number of correct answers.',
  hasGold: canBeCorrect,
  needs: NEEDS_CORRECT,
  empty: 'no answer was correct',
  measure: (run, gold) =>
    run.error === null ? { sum: run.tokens.total, of: isCorrect(run, gold) ? 1 : 0 } : null,
};

export const cost: Metric = {
  ...shared,
  id: 'cost.money',
  label: 'Cost',
  unit: 'money',
  kind: 'mean',
  description: 'Price of a turn by the price file.',
  empty: 'no price file names the model (--prices)',
  measure: (run) => (run.error === null && run.cost !== null ? value(run.cost) : null),
};
