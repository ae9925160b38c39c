import { matchesSource } from '../cases/expected-source.ts';
import type { CaseRun } from '../report/case-run.ts';
import { type CaseGold, type Metric, valueContribution } from './metric.ts';

export const NO_EXPECTED_SOURCES = 'no case has expectedSources or expectedChunks';
const RECALL_DEPTH = 5;
const NDCG_DEPTH = 10;

export function hasExpectedSources({ answerable, expected }: CaseGold): boolean {
  return answerable !== false && expected.sources.length + expected.chunks.length > 0;
}

/** Whether the case expects this chunk; null without gold. */
export function isExpectedSource(
  { url, chunkId }: { url: string; chunkId: string | null },
  gold: CaseGold,
): boolean | null {
  const { sources, chunks } = gold.expected;
  if (sources.length + chunks.length === 0) return null;
  return (
    (chunkId !== null && chunks.includes(chunkId)) || sources.some((source) => matchesSource(source, url))
  );
}

const ranked = {
  group: 'retrieval',
  unit: 'share',
  better: 'higher',
  kind: 'mean',
  hasGold: hasExpectedSources,
  needs: NO_EXPECTED_SOURCES,
} as const;

export const retrievalMetrics: readonly Metric[] = [
  {
    ...ranked,
    id: `retrieval.recall@${RECALL_DEPTH}`,
    label: `Recall@${RECALL_DEPTH}`,
    description: `Share of the expected sources among the first ${RECALL_DEPTH} results of a turn.`,
    measure(run, gold) {
      const ranks = expectedRanks(run, gold);
      return valueContribution(ranks.filter((rank) => rank <= RECALL_DEPTH).length / ranks.length);
    },
  },
  {
    ...ranked,
    id: `retrieval.ndcg@${NDCG_DEPTH}`,
    label: `nDCG@${NDCG_DEPTH}`,
    description: `How high the expected sources rank among the first ${NDCG_DEPTH}; 1 if they come first.`,
    measure(run, gold) {
      const ranks = expectedRanks(run, gold);
      const ideal = ranks.slice(0, NDCG_DEPTH).map((_, index) => index + 1);
      return valueContribution(
        discountedGain(ranks.filter((rank) => rank <= NDCG_DEPTH)) / discountedGain(ideal),
      );
    },
  },
];

/**
 * The rank of each expected item over all searches of a turn, from 1; infinite if it was not found. Items are chunks
 * if the case expects chunks, else documents. A repeated result keeps its first rank.
 */
function expectedRanks({ retrievals }: Pick<CaseRun, 'retrievals'>, { expected }: CaseGold): number[] {
  const found = retrievals.flatMap((retrieval) => retrieval.chunks);
  const rankIn = (ranking: readonly string[], isExpected: (item: string) => boolean) => {
    const index = ranking.findIndex(isExpected);
    return index < 0 ? Number.POSITIVE_INFINITY : index + 1;
  };
  if (expected.chunks.length > 0) {
    const ranking = [...new Set(found.map(({ chunkId }) => chunkId))];
    return expected.chunks.map((wanted) => rankIn(ranking, (chunkId) => chunkId === wanted));
  }
  const ranking = [...new Set(found.map(({ url }) => url))];
  return expected.sources.map((wanted) => rankIn(ranking, (url) => matchesSource(wanted, url)));
}

function discountedGain(ranks: readonly number[]): number {
  return ranks.reduce((sum, rank) => sum + 1 / Math.log2(rank + 1), 0);
}
