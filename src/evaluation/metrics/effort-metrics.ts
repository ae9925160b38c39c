import { canBeCorrect, isCorrect, NEEDS_CORRECT } from './answer-metrics.ts';
import { ALL_FAILED, type Metric, value } from './metric.ts';

const effort = { group: 'effort', unit: 'number', better: 'lower', kind: 'mean' } as const;

export const steps: Metric = {
  ...effort,
  id: 'effort.steps',
  label: 'Steps',
  description: 'Answers of the model and searches made beforehand, a turn.',
  empty: ALL_FAILED,
  measure: (run) => (run.error === null ? value(run.steps) : null),
};

export const searches: Metric = {
  ...effort,
  id: 'effort.searches',
  label: 'Searches',
  description: 'Searches a turn.',
  empty: ALL_FAILED,
  measure: (run) => (run.error === null ? value(run.searches) : null),
};

export const duplicateSearches: Metric = {
  ...effort,
  id: 'effort.duplicates',
  label: 'Duplicate searches',
  kind: 'ratio',
  unit: 'share',
  description: 'Share of the searches that the same turn had made before.',
  empty: 'nothing was searched for',
  measure: (run) => (run.error === null ? { sum: run.duplicateSearches, of: run.searches } : null),
};

const spending = { group: 'cost', better: 'lower' } as const;

export const tokens: Metric = {
  ...spending,
  id: 'cost.tokens',
  label: 'Tokens',
  unit: 'tokens',
  kind: 'mean',
  description: 'Tokens in and out, a turn.',
  empty: ALL_FAILED,
  measure: (run) => (run.error === null ? value(run.tokens.total) : null),
};

export const tokensPerCorrect: Metric = {
  ...spending,
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
  ...spending,
  id: 'cost.money',
  label: 'Cost',
  unit: 'money',
  kind: 'mean',
  description: 'Price of a turn by the price file.',
  empty: 'no price file names the model (--prices)',
  measure: (run) => (run.error === null && run.cost !== null ? value(run.cost) : null),
};

const time = { group: 'time', unit: 'ms', better: 'lower', kind: 'mean' } as const;

export const timeToFirstToken: Metric = {
  ...time,
  id: 'time.first_token',
  label: 'Time to first token',
  description: 'From the question to the first piece of the answer.',
  empty: 'no answer was streamed',
  measure: ({ error, timesMs }) =>
    error === null && timesMs.firstToken !== null ? value(timesMs.firstToken) : null,
};

export const totalTime: Metric = {
  ...time,
  id: 'time.total',
  label: 'Total time',
  description: 'From the question to the checked answer.',
  empty: ALL_FAILED,
  measure: ({ error, timesMs }) => (error === null ? value(timesMs.total) : null),
};
