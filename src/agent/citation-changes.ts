import type { Citation } from '../domain/citation.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import { ATTACHED_TEXT_URL } from '../domain/prompts.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import {
  type ChunkChange,
  type ChunkPlace,
  type ChunkReference,
  findChunkChanges,
  isFileDeleted,
} from '../retrieval/chunk-changes.ts';

/** Changes of cited chunks by chunk id; unchanged ones are left out. */
export type CitationChanges = Map<string, ChunkChange>;

type CitingTurn = Pick<ConversationTurn, 'decisions' | 'response'>;
type Chunks = Pick<ChunkStore, 'chunks' | 'withContent'>;

/** Sets `gone` on citations of files that no longer exist. */
export function markMissingFiles(
  citations: readonly Citation[],
  retrieved: readonly RetrievedChunk[],
): Citation[] {
  const cited = new Set(citations.map(({ chunkId }) => chunkId));
  const gone = new Set(
    retrieved
      .filter((chunk) => cited.has(chunk.chunkId) && isFileDeleted(chunk))
      .map(({ chunkId }) => chunkId),
  );
  return citations.map((citation) =>
    gone.has(citation.chunkId ?? '') ? { ...citation, gone: true } : citation,
  );
}

/** The lookup for a deleted collection. */
export const emptyChunkLookup: Chunks = { chunks: async () => [], withContent: async () => [] };

/** The changes of the sources of each turn since it cited them. */
export async function findCitationChanges(
  turns: readonly CitingTurn[],
  store: Chunks,
): Promise<CitationChanges[]> {
  const cited = citedChunks(turns);
  const changes = (await findChunkChanges(cited.flat(), store)).values();
  return cited.map(
    (chunks) =>
      new Map(
        chunks.flatMap(({ chunkId }): [string, ChunkChange][] => {
          const change = changes.next().value ?? null;
          return change === null ? [] : [[chunkId, change]];
        }),
      ),
  );
}

/** The chunks that each turn cites, with the hash of their latest retrieval up to then. */
function citedChunks(turns: readonly CitingTurn[]): ChunkReference[][] {
  const retrieved = new Map<string, string>();
  return turns.map(({ decisions, response }) => {
    for (const decision of decisions) {
      if (!decision.searched) continue;
      for (const { chunkId, contentHash } of decision.chunks) retrieved.set(chunkId, contentHash);
    }
    // Attached texts are not in the collection.
    const ids = response.citations.flatMap(({ chunkId, url }) =>
      url === ATTACHED_TEXT_URL ? [] : (chunkId ?? []),
    );
    return [...new Set(ids)].map((chunkId) => ({ chunkId, contentHash: retrieved.get(chunkId) }));
  });
}

export interface CitationChangeRecords {
  /** Changed or removed chunks, and those whose file was deleted. */
  stale: Record<string, 'changed' | 'removed' | 'file_deleted'>;
  /** Chunks whose text is now in another chunk. */
  moved: Record<string, ChunkPlace>;
}

/** Citation changes as plain records for JSON. */
export function toCitationChangeRecords(changes: CitationChanges): CitationChangeRecords {
  const records: CitationChangeRecords = { stale: {}, moved: {} };
  for (const [chunkId, change] of changes) {
    if (change.change === 'moved') records.moved[chunkId] = change.to;
    else records.stale[chunkId] = change.change;
  }
  return records;
}

/** A notice that names the changed sources of earlier answers, if there are any. */
export async function staleSourceNotices(turns: readonly CitingTurn[], store: Chunks): Promise<string[]> {
  const changes = await findCitationChanges(turns, store);
  const titles = turns.flatMap(({ response }, index) =>
    response.citations.flatMap(({ chunkId, title }) => {
      const found = changes[index]?.get(chunkId ?? '');
      return found === undefined || found.change === 'moved' ? [] : [title];
    }),
  );
  if (titles.length === 0) return [];
  return [`Sources of earlier answers have changed or were removed: ${[...new Set(titles)].join(', ')}.`];
}
