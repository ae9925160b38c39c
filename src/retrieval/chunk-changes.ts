import { existsSync } from 'node:fs';
import type { ChunkStore, StoredChunk } from '../ports/chunk-store.ts';

export type ChunkPlace = Pick<StoredChunk, 'chunkId' | 'url'>;

/**
 * `changed`: the chunk has other text. `removed`: it is no longer in the collection. `file_deleted`: it is, but its file
 * was deleted. `moved`: another chunk has the same text.
 */
export type ChunkChange =
  | { change: 'changed' | 'removed' | 'file_deleted' }
  | { change: 'moved'; to: ChunkPlace };

/** A chunk as it was cited. Without a hash, changes of its text cannot be detected. */
export interface ChunkReference {
  chunkId: string;
  contentHash: string | undefined;
}

/** How each referenced chunk has changed; null if it has not. */
export async function findChunkChanges(
  references: readonly ChunkReference[],
  store: Pick<ChunkStore, 'chunks' | 'withContent'>,
): Promise<(ChunkChange | null)[]> {
  const found = await store.chunks([...new Set(references.map(({ chunkId }) => chunkId))]);
  const current = new Map(found.map((chunk) => [chunk.chunkId, chunk]));
  const deleted = new Set(found.filter(isFileDeleted).map(({ chunkId }) => chunkId));
  const changed = references.filter(
    ({ chunkId, contentHash }) => current.get(chunkId)?.contentHash !== contentHash || deleted.has(chunkId),
  );
  const hashes = [...new Set(changed.flatMap(({ contentHash }) => contentHash ?? []))];
  const elsewhere = new Map<string, ChunkPlace>();
  for (const chunk of hashes.length === 0 ? [] : await store.withContent(hashes)) {
    const { contentHash, chunkId, url } = chunk;
    if (!elsewhere.has(contentHash) && !isFileDeleted(chunk)) elsewhere.set(contentHash, { chunkId, url });
  }
  return references.map(({ chunkId, contentHash }): ChunkChange | null => {
    const now = current.get(chunkId)?.contentHash;
    const isSame = now !== undefined && (contentHash === undefined || contentHash === now);
    if (isSame && !deleted.has(chunkId)) return null;
    const to = elsewhere.get(contentHash ?? '');
    if (to !== undefined) return { change: 'moved', to };
    return { change: isSame ? 'file_deleted' : now === undefined ? 'removed' : 'changed' };
  });
}

/**
 * Whether an ingested file was deleted. False if its root directory does not exist either: then it was ingested on
 * another machine, or the whole directory was moved.
 */
export function isFileDeleted({ url, uri }: { url: string; uri?: string | undefined }): boolean {
  if (uri === undefined || !uri.startsWith('file:') || existsSync(new URL(uri))) return false;
  const depth = /^https?:/i.test(url) ? 0 : url.split('/').length - 1;
  return existsSync(new URL(`./${'../'.repeat(depth)}`, uri));
}
