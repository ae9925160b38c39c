import { type Metric, value } from './metric.ts';

const shared = { group: 'time', unit: 'ms', better: 'lower', kind: 'mean' } as const;

export const timeToFirstToken: Metric = {
  ...shared,
  id: 'time.first_token',
  label: 'Time to first token',
  description: 'From the question to the first piece of the answer.',
  empty: 'no answer was streamed',
  measure: ({ error, timesMs }) =>
    error === null && timesMs.firstToken !== null ? value(timesMs.firstToken) : null,
};

export const totalTime: Metric = {
  ...shared,
  id: 'time.total',
  label: 'Total time',
  description: 'From the question to the checked answer.',
  empty: 'every run ended in an error',
  measure: ({ error, timesMs }) => (error === null ? value(timesMs.total) : null),
};
