import { createDocumentParser } from '../src/adapters/documents/parse-document.ts';
import { fileStillExists } from '../src/adapters/files/file-still-exists.ts';
import { createSource } from '../src/adapters/sources/create-source.ts';
import { createSqliteCatalog } from '../src/adapters/sqlite/sqlite-catalog.ts';
import { type IngestSummary, ingest } from '../src/ingest/ingest.ts';
import type { Embedder } from '../src/ports/embedder.ts';
import { IDENTITY } from './minilm.ts';

/** What `citeloop ingest <documents>` does, from listing the files to closing the collection. */
export async function ingestDirectory(
  documents: string,
  collections: string,
  embedder: () => Promise<Embedder>,
): Promise<IngestSummary> {
  const source = await createSource(documents, { files: { cwd: documents }, web: {} });
  const store = await createSqliteCatalog(collections).openOrCreate('bench', IDENTITY);
  try {
    return await ingest(
      [source],
      { store, parse: createDocumentParser(), embedder, stillExists: fileStillExists },
      { prune: false },
    );
  } finally {
    await store.close();
  }
}
