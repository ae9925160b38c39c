import type { ConversationTurn } from '../domain/conversation-turn.ts';
import { ATTACHED_URL } from '../domain/prompts.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';

/** What became of a chunk since it was cited: it says something else now, or it is no longer there. */
export type Staleness = 'changed' | 'vanished';
export type StaleCitations = Map<string, Staleness>;

type CitingTurn = Pick<ConversationTurn, 'decisions' | 'response'>;
type Chunks = Pick<ChunkStore, 'chunks'>;

/** The cited chunks that are no longer what they were when any of these turns cited them. Oldest turn first. */
export async function staleCitations(turns: readonly CitingTurn[], store: Chunks): Promise<StaleCitations> {
  return new Map((await staleCitationsByTurn(turns, store)).flatMap((stale) => [...stale]));
}

/** The same for each turn by itself: a later one may have cited what the source says now. */
export async function staleCitationsByTurn(
  turns: readonly CitingTurn[],
  store: Chunks,
): Promise<StaleCitations[]> {
  const cited = citedHashes(turns);
  const ids = new Set(cited.flatMap((hashes) => [...hashes.keys()]));
  const current = new Map(
    (ids.size === 0 ? [] : await store.chunks([...ids])).map((chunk) => [chunk.chunkId, chunk.contentHash]),
  );
  return cited.map((hashes) => {
    const stale: StaleCitations = new Map();
    for (const [chunkId, hash] of hashes) {
      const now = current.get(chunkId);
      if (now === undefined) stale.set(chunkId, 'vanished');
      else if (hash !== undefined && hash !== now) stale.set(chunkId, 'changed');
    }
    return stale;
  });
}

/** What each turn cites, as it was when last retrieved up to then: an answer may cite what an earlier turn found. */
function citedHashes(turns: readonly CitingTurn[]): Map<string, string | undefined>[] {
  const retrieved = new Map<string, string>();
  return turns.map(({ decisions, response }) => {
    for (const decision of decisions) {
      if (!decision.searched) continue;
      for (const { chunkId, contentHash } of decision.chunks) retrieved.set(chunkId, contentHash);
    }
    // What was given along with a question was never in the collection.
    const ids = response.citations.flatMap(({ chunkId, url }) =>
      url === ATTACHED_URL ? [] : (chunkId ?? []),
    );
    return new Map(ids.map((id) => [id, retrieved.get(id)]));
  });
}

/** Says which sources of earlier answers are no longer what they were. */
export async function staleNotices(turns: readonly CitingTurn[], store: Chunks): Promise<string[]> {
  const stale = await staleCitations(turns, store);
  const titles = new Set(
    turns
      .flatMap(({ response }) => response.citations)
      .filter(({ chunkId }) => chunkId !== null && stale.has(chunkId))
      .map(({ title }) => title),
  );
  if (titles.size === 0) return [];
  return [`Sources of earlier answers have changed or vanished since: ${[...titles].join(', ')}.`];
}
