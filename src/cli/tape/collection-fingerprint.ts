import { createHash } from 'node:crypto';
import type { ChunkStore } from '../../ports/chunk-store.ts';

/** Tells whether two collections hold the same documents, wherever those were read from. */
export async function collectionFingerprint(
  store: ChunkStore,
): Promise<{ documents: number; fingerprint: string }> {
  const hashes: string[] = [];
  for await (const { contentHash } of store.documents()) hashes.push(contentHash);
  const { embedder } = store.identity;
  const fingerprint = createHash('sha256')
    .update(`${embedder}\n${hashes.sort().join('\n')}`)
    .digest('hex');
  return { documents: hashes.length, fingerprint: fingerprint.slice(0, 32) };
}
