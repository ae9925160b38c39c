import type { Citation } from '../domain/citation.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import { ATTACHED_TEXT_URL } from '../domain/prompts.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import { isFileDeleted } from '../retrieval/deleted-files.ts';

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

/** A notice that names the changed, moved or removed sources of earlier answers, if there are any. */
export async function findChangedSources(
  turns: readonly ConversationTurn[],
  store: Pick<ChunkStore, 'chunks'>,
): Promise<string[]> {
  const retrieved = new Map<string, { title: string; contentHash: string }>();
  for (const { retrievals } of turns) {
    for (const chunk of retrievals.flatMap(({ chunks }) => chunks)) {
      if (chunk.url !== ATTACHED_TEXT_URL) retrieved.set(chunk.chunkId, chunk);
    }
  }
  const cited = new Set(turns.flatMap(({ response }) => response.citations.map(({ chunkId }) => chunkId)));
  const ids = [...retrieved.keys()].filter((id) => cited.has(id));
  const current = new Map((await store.chunks(ids)).map((chunk) => [chunk.chunkId, chunk.contentHash]));
  const changed = ids.filter((id) => current.get(id) !== retrieved.get(id)?.contentHash);
  if (changed.length === 0) return [];
  const titles = new Set(changed.map((id) => retrieved.get(id)?.title));
  return [`Sources of earlier answers have changed, moved or were removed: ${[...titles].join(', ')}.`];
}
