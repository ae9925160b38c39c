import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { createChunkId } from '../../src/domain/document.ts';
import { chunkDocument } from '../../src/ingest/chunk-document.ts';
import type { ChunkStore, DocumentWrite } from '../../src/ports/chunk-store.ts';
import { createRetriever, type Retriever } from '../../src/retrieval/create-retriever.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';
import { createWordEmbedder, type WordEmbedder } from './word-embedder.ts';

export interface SmallLibrary {
  store: ChunkStore;
  embedder: WordEmbedder;
  retriever: Retriever;
  /** The number of searches of the store. */
  searches(): number;
}

/** Creates a SQLite collection of short documents, given as `module/title` and text, with a retriever. */
export async function createSmallLibrary(documents: Record<string, string>): Promise<SmallLibrary> {
  const embedder = createWordEmbedder();
  const identity = { embedder: embedder.id, dimensions: embedder.dimensions };
  const store = await createSqliteCatalog(join(await createTemporaryDirectory(), 'home')).openOrCreate(
    'library',
    identity,
  );
  onTestFinished(() => store.close());
  const writes: DocumentWrite[] = [];
  for (const [path, text] of Object.entries(documents)) {
    const [module = '', title = ''] = path.split('/');
    const url = `https://library.example/${encodeURIComponent(path)}`;
    const parsed = {
      title,
      metadata: {},
      text,
      blocks: [{ kind: 'paragraph' as const, depth: 0, start: 0, end: text.length }],
    };
    const chunks = await chunkDocument(parsed, { title, maxTokens: 256, countTokens: embedder.countTokens });
    const vectors = await embedder.embedDocuments(chunks.map((chunk) => chunk.embedded));
    writes.push({
      document: {
        uri: url,
        url,
        root: 'https://library.example/',
        title,
        module,
        chapter: null,
        metadata: {},
        contentHash: path,
        fingerprint: '',
      },
      chunks: chunks.map((chunk, index) => ({
        ...chunk,
        chunkId: createChunkId(url, chunk.chunkIndex),
        vector: vectors[index] as Float32Array,
        words: null,
      })),
    });
  }
  await store.write(writes);
  let searches = 0;
  const counted: ChunkStore = {
    ...store,
    search: (request) => {
      searches += 1;
      return store.search(request);
    },
  };
  const retriever = createRetriever({
    store: counted,
    embedder: async () => embedder,
    scoreThreshold: 0.2,
    mode: 'hybrid',
  });
  return { store, embedder, retriever, searches: () => searches };
}
