import { type Metric, value } from './metric.ts';
import { hasExpectedSources, NEEDS_SOURCES, placesOfExpected } from './retrieval-ranking.ts';

export const meanReciprocalRank: Metric = {
  id: 'retrieval.mrr',
  label: 'MRR',
  group: 'retrieval',
  unit: 'share',
  better: 'higher',
  kind: 'mean',
  description: 'One by the place of the first expected source; 0 where none came back.',
  hasGold: hasExpectedSources,
  needs: NEEDS_SOURCES,
  empty: NEEDS_SOURCES,
  measure(run, gold) {
    const places = placesOfExpected(run, gold).filter((place) => place !== null);
    return value(places.length === 0 ? 0 : 1 / Math.min(...places));
  },
};
