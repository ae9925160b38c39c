import { matchesSource } from '../cases/matches-source.ts';
import type { CaseRun } from '../report/report-data.ts';
import type { Gold } from './metric.ts';

export const NEEDS_SOURCES = 'no case has expectedSources or expectedChunks';

/** Whether a case says what should be found; of a question without an answer in the documents nothing should. */
export function hasExpectedSources({ answerable, expected }: Gold): boolean {
  return answerable !== false && expected.sources.length + expected.chunks.length > 0;
}

/**
 * The place of each expected item in what the searches of a turn brought back, from 1; null if it is not there.
 * Chunks count where chunks are expected, otherwise documents. What comes back twice keeps its first place, and
 * a later search goes on where the one before it ended.
 */
export function placesOfExpected({ retrievals }: Pick<CaseRun, 'retrievals'>, gold: Gold): (number | null)[] {
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
