import type { ChunkStore, DocumentRecord } from '../ports/chunk-store.ts';

const DOCUMENT_BATCH = 32;
const VECTOR_BATCH = 256;

interface CopyOptions {
  /** Remove documents that only the target has. */
  prune: boolean;
  signal?: AbortSignal | undefined;
  onProgress?:
    | ((progress: { documents: number; totalDocuments: number; chunks: number }) => void)
    | undefined;
}

/**
 * Copies documents with their vectors and counts them; `kept` are those that only the target has. An interrupted copy
 * can be continued by running it again.
 */
export async function copyCollection(
  from: ChunkStore,
  to: ChunkStore,
  { prune, signal, onProgress }: CopyOptions,
) {
  const target = await readDocuments(to);
  const source = await readDocuments(from);
  const outdated = [...source.values()].filter((document) => !isSame(document, target.get(document.uri)));
  const extra = [...target.keys()].filter((uri) => !source.has(uri));
  const unchanged = source.size - outdated.length;
  let copied = 0;
  let chunks = 0;
  const report = () => onProgress?.({ documents: unchanged + copied, totalDocuments: source.size, chunks });

  // First, because one of them may have the address of a document to copy.
  if (prune) await to.remove(extra);
  for (let start = 0; start < outdated.length; start += DOCUMENT_BATCH) {
    signal?.throwIfAborted();
    report();
    const documents = await from.read(outdated.slice(start, start + DOCUMENT_BATCH).map(({ uri }) => uri));
    await to.write(documents);
    copied += documents.length;
    chunks += documents.reduce((sum, write) => sum + write.chunks.length, 0);
  }
  report();
  await copyVectors(from, to, signal);
  const { description } = await from.info();
  if (description) await to.describe?.(description);
  await to.settle();
  const [removed, kept] = prune ? [extra.length, 0] : [0, extra.length];
  return { copied, unchanged, removed, kept, chunks };
}

/** Documents that an earlier copy took before they were embedded get their vectors. */
async function copyVectors(from: ChunkStore, to: ChunkStore, signal: AbortSignal | undefined): Promise<void> {
  const hashes = [...new Set((await to.unembedded({ words: true })).map(({ contentHash }) => contentHash))];
  for (let start = 0; start < hashes.length; start += VECTOR_BATCH) {
    signal?.throwIfAborted();
    await to.addVectors(await from.vectors(hashes.slice(start, start + VECTOR_BATCH)));
  }
}

async function readDocuments(store: ChunkStore): Promise<Map<string, DocumentRecord>> {
  return new Map((await Array.fromAsync(store.documents())).map((document) => [document.uri, document]));
}

function isSame(one: DocumentRecord, other: DocumentRecord | undefined): boolean {
  return one.contentHash === other?.contentHash && one.fingerprint === other.fingerprint;
}
