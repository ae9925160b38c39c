import { type Metric, value } from './metric.ts';
import { hasExpectedSources, NEEDS_SOURCES, placesOfExpected } from './retrieval-ranking.ts';

/** The share of what was expected that is among the first `k`; of a run without a search, nothing. */
export function recallAt(k: number): Metric {
  return {
    id: `retrieval.recall@${k}`,
    label: `Recall@${k}`,
    group: 'retrieval',
    unit: 'share',
    better: 'higher',
    kind: 'mean',
    description: `Share of the expected sources among the first ${k} that the searches of a turn brought back.`,
    hasGold: hasExpectedSources,
    needs: NEEDS_SOURCES,
    empty: NEEDS_SOURCES,
    measure(run, gold) {
      const places = placesOfExpected(run, gold);
      return value(places.filter((place) => place !== null && place <= k).length / places.length);
    },
  };
}
