import type { Chunk } from '../domain/document.ts';
import { chunkId } from '../domain/document.ts';
import type { ChunkStore, DocumentRecord, DocumentWrite } from '../ports/chunk-store.ts';

/** How many chunks are collected before they are written: enough to be fast, few enough to be found soon. */
const BATCH_CHUNKS = 256;

export interface ChunkedDocument {
  document: DocumentRecord;
  chunks: Chunk[];
  replaces?: string;
}

interface DocumentBatch<T extends ChunkedDocument> {
  /** Takes a document; when enough has come together, it is committed. */
  add(document: T): Promise<void>;
  /** Commits what is left. */
  flush(): Promise<void>;
}

/** Collects chunked documents and writes them, with the vectors that the collection has already; the others follow. */
export function createDocumentBatch<T extends ChunkedDocument>(
  store: Pick<ChunkStore, 'vectors' | 'write'>,
  onWritten: (documents: readonly T[]) => void,
): DocumentBatch<T> {
  let pending: T[] = [];
  let pendingChunks = 0;

  async function flush(): Promise<void> {
    const documents = pending;
    pending = [];
    pendingChunks = 0;
    if (documents.length === 0) return;
    const hashes = documents.flatMap(({ chunks }) => chunks.map(({ contentHash }) => contentHash));
    const vectors = await store.vectors([...new Set(hashes)]);
    await store.write(documents.map((document) => toWrite(document, vectors)));
    onWritten(documents);
  }

  return {
    async add(document) {
      pending.push(document);
      pendingChunks += document.chunks.length;
      if (pendingChunks >= BATCH_CHUNKS) await flush();
    },
    flush,
  };
}

function toWrite(
  { document, chunks, replaces }: ChunkedDocument,
  vectors: ReadonlyMap<string, Float32Array>,
): DocumentWrite {
  return {
    document,
    chunks: chunks.map(({ embedded: _, end: __, ...chunk }) => ({
      ...chunk,
      chunkId: chunkId(document.url, chunk.chunkIndex),
      vector: vectors.get(chunk.contentHash) ?? null,
    })),
    ...(replaces !== undefined && { replaces }),
  };
}
