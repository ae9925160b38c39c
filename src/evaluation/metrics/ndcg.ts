import { type Metric, value } from './metric.ts';
import { hasExpectedSources, NEEDS_SOURCES, placesOfExpected } from './retrieval-ranking.ts';

const DEPTH = 10;

/** What was expected counts by 1 / log2(place + 1), against the same with all of it in front. */
export const ndcg: Metric = {
  id: `retrieval.ndcg@${DEPTH}`,
  label: `nDCG@${DEPTH}`,
  group: 'retrieval',
  unit: 'share',
  better: 'higher',
  kind: 'mean',
  description: `How far in front the expected sources are among the first ${DEPTH}; 1 if nothing stands before them.`,
  hasGold: hasExpectedSources,
  needs: NEEDS_SOURCES,
  empty: NEEDS_SOURCES,
  measure(run, gold) {
    const places = placesOfExpected(run, gold);
    const found = places.filter((place) => place !== null && place <= DEPTH);
    const ideal = places.slice(0, DEPTH).map((_, index) => index + 1);
    return value(gainOf(found as number[]) / gainOf(ideal));
  },
};

function gainOf(places: readonly number[]): number {
  return places.reduce((sum, place) => sum + 1 / Math.log2(place + 1), 0);
}
