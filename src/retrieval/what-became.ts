import type { ChunkStore, StoredChunk } from '../ports/chunk-store.ts';
import { fileIsGone } from './file-is-gone.ts';

/** Where a passage stands. */
export type PassagePlace = Pick<StoredChunk, 'chunkId' | 'url'>;

/**
 * What became of a passage: it says something else now, the collection no longer has it (`vanished`) or has it still
 * though its file is `gone`, or the same words stand elsewhere.
 */
export type Fate = { became: 'changed' | 'vanished' | 'gone' } | { became: 'moved'; to: PassagePlace };

/** A chunk as it was when somebody relied on it; without a hash only whether it is there can be told. */
export interface NotedChunk {
  chunkId: string;
  contentHash: string | undefined;
}

/** What became of each of some chunks since they were noted; null for those that are as they were. */
export async function whatBecame(
  noted: readonly NotedChunk[],
  store: Pick<ChunkStore, 'chunks' | 'withContent'>,
): Promise<(Fate | null)[]> {
  const ids = [...new Set(noted.map(({ chunkId }) => chunkId))];
  const found = ids.length === 0 ? [] : await store.chunks(ids);
  const current = new Map(found.map(({ chunkId, contentHash }) => [chunkId, contentHash]));
  const gone = new Set(found.filter(fileIsGone).map(({ chunkId }) => chunkId));
  const parted = noted.filter(
    ({ chunkId, contentHash }) => current.get(chunkId) !== contentHash || gone.has(chunkId),
  );
  const hashes = [...new Set(parted.flatMap(({ contentHash }) => contentHash ?? []))];
  const elsewhere = new Map<string, PassagePlace>();
  for (const chunk of hashes.length === 0 ? [] : await store.withContent(hashes)) {
    const { contentHash, chunkId, url } = chunk;
    if (!elsewhere.has(contentHash) && !fileIsGone(chunk)) elsewhere.set(contentHash, { chunkId, url });
  }
  return noted.map(({ chunkId, contentHash }): Fate | null => {
    const now = current.get(chunkId);
    const isSame = now !== undefined && (contentHash === undefined || contentHash === now);
    if (isSame && !gone.has(chunkId)) return null;
    const to = elsewhere.get(contentHash ?? '');
    if (to !== undefined) return { became: 'moved', to };
    return { became: isSame ? 'gone' : now === undefined ? 'vanished' : 'changed' };
  });
}
