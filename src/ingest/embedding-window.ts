import type { Chunk } from '../domain/document.ts';
import { chunkId } from '../domain/document.ts';
import type { ChunkStore, DocumentRecord, DocumentWrite } from '../ports/chunk-store.ts';
import type { Embedder } from '../ports/embedder.ts';

/** How many chunks are collected before they are embedded: enough to keep an embedder busy, few enough to lose little. */
const WINDOW_CHUNKS = 256;

export interface ChunkedDocument {
  document: DocumentRecord;
  chunks: Chunk[];
  replaces?: string;
}

interface EmbeddingWindow<T extends ChunkedDocument> {
  /** Takes a document; when enough has come together, embedding and committing it begins. */
  add(document: T): Promise<void>;
  /** Embeds and commits what is left, and waits for it. */
  flush(): Promise<void>;
  /** Waits until nothing is under way any more, whatever comes of it. */
  rest(): Promise<void>;
  /** How many of the documents that are being embedded are done, as far as that can be told by their chunks. */
  documentsEmbedded(): number;
}

interface EmbeddingWindowOptions<T extends ChunkedDocument> {
  store: Pick<ChunkStore, 'vectors' | 'write'>;
  embedder: () => Promise<Embedder>;
  signal?: AbortSignal | undefined;
  /** Called after each batch with its number of chunks. */
  onEmbedded: (chunks: number) => void;
  /** Called once documents are committed. */
  onWritten: (documents: readonly T[]) => void;
}

/** Collects chunked documents and embeds what is new among them, long ones first: those side by side take alike. */
export function createEmbeddingWindow<T extends ChunkedDocument>(
  options: EmbeddingWindowOptions<T>,
): EmbeddingWindow<T> {
  const { store, embedder, signal, onEmbedded, onWritten } = options;
  let pending: T[] = [];
  let pendingChunks = 0;
  let underWay = { documents: 0, share: 0 };
  /** At most one window is being embedded while the next is read. */
  let working: Promise<void> = Promise.resolve();

  async function vectorsFor(chunks: readonly Chunk[]): Promise<Map<string, Float32Array>> {
    const byHash = new Map(chunks.map((chunk) => [chunk.contentHash, chunk]));
    const vectors = await store.vectors([...byHash.keys()]);
    const missing = [...byHash.values()]
      .filter((chunk) => !vectors.has(chunk.contentHash))
      .sort((a, b) => b.tokenCount - a.tokenCount);
    const { embedDocuments, batchSize } = await embedder();
    for (let start = 0; start < missing.length; start += batchSize) {
      signal?.throwIfAborted();
      const batch = missing.slice(start, start + batchSize);
      const embedded = await embedDocuments(
        batch.map((chunk) => chunk.embedded),
        signal,
      );
      batch.forEach((chunk, index) => {
        vectors.set(chunk.contentHash, embedded[index] as Float32Array);
      });
      underWay.share = Math.min(1, (start + batchSize) / missing.length);
      onEmbedded(batch.length);
    }
    return vectors;
  }

  /** Starts on what has come together once the work before is done. A fault of it is thrown by the next call. */
  async function begin(): Promise<void> {
    await working;
    const documents = pending;
    pending = [];
    pendingChunks = 0;
    working = embedAndWrite(documents);
    working.catch(() => {});
  }

  async function embedAndWrite(documents: readonly T[]): Promise<void> {
    if (documents.length === 0) return;
    underWay = { documents: documents.length, share: 0 };
    const vectors = await vectorsFor(documents.flatMap(({ chunks }) => chunks));
    const writes = documents.map(
      ({ document, chunks, replaces }): DocumentWrite => ({
        document,
        chunks: chunks.map((chunk) => ({
          ...chunk,
          chunkId: chunkId(document.url, chunk.chunkIndex),
          vector: vectors.get(chunk.contentHash) as Float32Array,
        })),
        ...(replaces !== undefined && { replaces }),
      }),
    );
    await store.write(writes);
    underWay = { documents: 0, share: 0 };
    onWritten(documents);
  }

  return {
    async add(document) {
      pending.push(document);
      pendingChunks += document.chunks.length;
      const { batchSize } = await embedder();
      if (pendingChunks >= Math.max(WINDOW_CHUNKS, batchSize)) await begin();
    },
    async flush() {
      await begin();
      await working;
    },
    rest: () => working.catch(() => {}),
    documentsEmbedded: () => Math.floor(underWay.documents * underWay.share),
  };
}
