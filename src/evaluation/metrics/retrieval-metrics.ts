import { matchesSource } from '../cases/expected-source.ts';
import type { CaseRun } from '../report/case-run.ts';
import { type Gold, type Metric, value } from './metric.ts';

export const NEEDS_SOURCES = 'no case has expectedSources or expectedChunks';

/** Whether a case says what should be found; of a question without an answer in the documents nothing should. */
export function hasExpectedSources({ answerable, expected }: Gold): boolean {
  return answerable !== false && expected.sources.length + expected.chunks.length > 0;
}

/** Whether a chunk is one that the case expects; null without gold. */
export function isExpected(
  { url, chunkId }: { url: string; chunkId: string | null },
  gold: Gold,
): boolean | null {
  const { sources, chunks } = gold.expected;
  if (sources.length + chunks.length === 0) return null;
  return (
    (chunkId !== null && chunks.includes(chunkId)) || sources.some((source) => matchesSource(source, url))
  );
}

/**
 * The place of each expected item in what the searches of a turn brought back, from 1; null if it is not there.
 * Chunks count where chunks are expected, otherwise documents. What comes back twice keeps its first place, and
 * a later search goes on where the one before it ended.
 */
function placesOfExpected({ retrievals }: Pick<CaseRun, 'retrievals'>, gold: Gold): (number | null)[] {
  const { sources, chunks } = gold.expected;
  const found = retrievals.flatMap((retrieval) => retrieval.chunks);
  if (chunks.length > 0) {
    const ranking = [...new Set(found.map(({ chunkId }) => chunkId))];
    return chunks.map((wanted) => placeIn(ranking, (chunkId) => chunkId === wanted));
  }
  const ranking = [...new Set(found.map(({ url }) => url))];
  return sources.map((wanted) => placeIn(ranking, (url) => matchesSource(wanted, url)));
}

function placeIn(ranking: readonly string[], isWanted: (item: string) => boolean): number | null {
  const index = ranking.findIndex(isWanted);
  return index < 0 ? null : index + 1;
}

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
