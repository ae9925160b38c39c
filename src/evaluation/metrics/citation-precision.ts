import { citationPassed } from '../../domain/citation.ts';
import type { Metric } from './metric.ts';

export const citationPrecision: Metric = {
  id: 'citation.precision',
  label: 'Citation precision',
  group: 'citation',
  unit: 'share',
  better: 'higher',
  kind: 'ratio',
  description: 'Share of the citations whose chunk bears out the sentence; made-up sources count against it.',
  empty: 'nothing was cited',
  measure: ({ citations }) => ({ sum: citations.filter(citationPassed).length, of: citations.length }),
};
