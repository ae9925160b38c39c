import type { ChunkStore, DocumentRecord } from '../ports/chunk-store.ts';

/** Documents that are read and committed together: few enough to hold, many enough to be fast. */
const BATCH = 32;
const VECTOR_BATCH = 256;

interface CopyOptions {
  /** Remove documents of the target that the source does not have. */
  prune: boolean;
  signal?: AbortSignal | undefined;
  onProgress?:
    | ((progress: { documents: number; totalDocuments: number; chunks: number }) => void)
    | undefined;
}

interface CopySummary {
  copied: number;
  unchanged: number;
  removed: number;
  /** Documents that only the target has, and keeps. */
  kept: number;
  /** Chunks written. */
  chunks: number;
}

/**
 * Brings one collection into another, vectors included, so that nothing is embedded again. Documents are
 * committed as they are done: after an interruption the same copy goes on from there.
 */
export async function copyCollection(
  from: ChunkStore,
  to: ChunkStore,
  { prune, signal, onProgress }: CopyOptions,
): Promise<CopySummary> {
  const there = await documentsOf(to);
  const here = await documentsOf(from);
  const outdated = [...here.values()].filter((document) => !isSame(document, there.get(document.uri)));
  const strangers = [...there.keys()].filter((uri) => !here.has(uri));
  const unchanged = here.size - outdated.length;
  let copied = 0;
  let chunks = 0;
  const report = () => onProgress?.({ documents: unchanged + copied, totalDocuments: here.size, chunks });

  // Before the rest: a stranger may have the address of a document that comes.
  if (prune) await to.remove(strangers);
  for (let start = 0; start < outdated.length; start += BATCH) {
    signal?.throwIfAborted();
    report();
    const documents = await from.read(outdated.slice(start, start + BATCH).map(({ uri }) => uri));
    await to.write(documents);
    copied += documents.length;
    chunks += documents.reduce((sum, write) => sum + write.chunks.length, 0);
  }
  report();
  await copyVectors(from, to, signal);
  await to.settle();
  return {
    copied,
    unchanged,
    removed: prune ? strangers.length : 0,
    kept: prune ? 0 : strangers.length,
    chunks,
  };
}

/** What was copied before it was embedded gets the vectors that have come since. */
async function copyVectors(from: ChunkStore, to: ChunkStore, signal: AbortSignal | undefined): Promise<void> {
  const hashes = [...new Set((await to.unembedded()).map(({ contentHash }) => contentHash))];
  for (let start = 0; start < hashes.length; start += VECTOR_BATCH) {
    signal?.throwIfAborted();
    await to.addVectors(await from.vectors(hashes.slice(start, start + VECTOR_BATCH)));
  }
}

async function documentsOf(store: ChunkStore): Promise<Map<string, DocumentRecord>> {
  const documents = new Map<string, DocumentRecord>();
  for await (const document of store.documents()) documents.set(document.uri, document);
  return documents;
}

function isSame(one: DocumentRecord, other: DocumentRecord | undefined): boolean {
  return one.contentHash === other?.contentHash && one.fingerprint === other.fingerprint;
}
