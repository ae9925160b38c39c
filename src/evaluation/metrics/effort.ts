import { type Metric, value } from './metric.ts';

const shared = { group: 'effort', unit: 'number', better: 'lower', kind: 'mean' } as const;
const ALL_FAILED = 'every run ended in an error';

export const steps: Metric = {
  ...shared,
  id: 'effort.steps',
  label: 'Steps',
  description: 'Answers of the model and searches made beforehand, a turn.',
  empty: ALL_FAILED,
  measure: (run) => (run.error === null ? value(run.steps) : null),
};

export const searches: Metric = {
  ...shared,
  id: 'effort.searches',
  label: 'Searches',
  description: 'Searches a turn.',
  empty: ALL_FAILED,
  measure: (run) => (run.error === null ? value(run.searches) : null),
};

export const duplicateSearches: Metric = {
  ...shared,
  id: 'effort.duplicates',
  label: 'Duplicate searches',
  kind: 'ratio',
  unit: 'share',
  description: 'Share of the searches that the same turn had made before.',
  empty: 'nothing was searched for',
  measure: (run) => (run.error === null ? { sum: run.duplicateSearches, of: run.searches } : null),
};
