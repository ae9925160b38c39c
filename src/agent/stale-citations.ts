import type { ConversationTurn } from '../domain/conversation-turn.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';

/** What became of a chunk since it was cited: it says something else now, or it is no longer there. */
export type Staleness = 'changed' | 'vanished';
export type StaleCitations = Map<string, Staleness>;

type Recorded = Pick<ConversationTurn, 'decisions' | 'response'>;
type Chunks = Pick<ChunkStore, 'chunks'>;

/** The cited chunks that are no longer what they were when any of these turns cited them. Oldest turn first. */
export async function staleCitations(turns: readonly Recorded[], store: Chunks): Promise<StaleCitations> {
  return new Map((await staleCitationsByTurn(turns, store)).flatMap((stale) => [...stale]));
}

/** The same for each turn by itself: a later one may have cited what the source says now. */
export async function staleCitationsByTurn(
  turns: readonly Recorded[],
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
function citedHashes(turns: readonly Recorded[]): Map<string, string | undefined>[] {
  const retrieved = new Map<string, string>();
  return turns.map(({ decisions, response }) => {
    for (const decision of decisions) {
      if (!decision.searched) continue;
      for (const { chunkId, contentHash } of decision.chunks) retrieved.set(chunkId, contentHash);
    }
    const ids = response.citations.flatMap(({ chunkId }) => chunkId ?? []);
    return new Map(ids.map((id) => [id, retrieved.get(id)]));
  });
}
