import type { Metric } from './metric.ts';

export const quoteFidelity: Metric = {
  id: 'citation.quotes',
  label: 'Quote fidelity',
  group: 'citation',
  unit: 'share',
  better: 'higher',
  kind: 'ratio',
  description: 'Share of the quotes in cited sentences that stand word for word in a cited chunk.',
  empty: 'nothing was quoted',
  measure: ({ quotes }) => ({ sum: quotes.held, of: quotes.total }),
};

export const numberFidelity: Metric = {
  id: 'citation.numbers',
  label: 'Number fidelity',
  group: 'citation',
  unit: 'share',
  better: 'higher',
  kind: 'ratio',
  description: 'Share of the numbers in cited sentences that a cited chunk gives, with the same unit.',
  empty: 'no cited sentence gives a number',
  measure: ({ numbers }) => ({ sum: numbers.held, of: numbers.total }),
};
