import type { ChunkStore, StoredChunk } from '../ports/chunk-store.ts';

/** Where a passage stands. */
export type PassagePlace = Pick<StoredChunk, 'chunkId' | 'url'>;

/** What became of a passage: it says something else now, it is gone, or the same words stand elsewhere. */
export type Fate = { became: 'changed' | 'vanished' } | { became: 'moved'; to: PassagePlace };

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
  const parted = noted.filter(
    ({ chunkId, contentHash }) => contentHash !== undefined && current.get(chunkId) !== contentHash,
  );
  const hashes = [...new Set(parted.flatMap(({ contentHash }) => contentHash ?? []))];
  const elsewhere = new Map<string, PassagePlace>();
  for (const { contentHash, chunkId, url } of hashes.length === 0 ? [] : await store.withContent(hashes)) {
    if (!elsewhere.has(contentHash)) elsewhere.set(contentHash, { chunkId, url });
  }
  return noted.map(({ chunkId, contentHash }): Fate | null => {
    const now = current.get(chunkId);
    if (now !== undefined && (contentHash === undefined || contentHash === now)) return null;
    const to = elsewhere.get(contentHash ?? '');
    if (to !== undefined) return { became: 'moved', to };
    return { became: now === undefined ? 'vanished' : 'changed' };
  });
}
