import { join } from 'node:path';
import { createDocumentParser } from '../../src/adapters/documents/parse-document.ts';
import { documentFileExists } from '../../src/adapters/files/file-source.ts';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { createDocumentSource } from '../../src/app/index-documents.ts';
import { type IngestSummary, ingestSources } from '../../src/ingest/ingest.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import { loadDefaultEmbedder, MINILM_IDENTITY } from '../support/load-embedder.ts';
import { measureMs, median, withTemporaryDirectory } from '../support/measure.ts';
import { type BenchmarkRow, createNote, createRow } from '../support/results.ts';
import { writeShortFiles } from '../support/sample-book.ts';

/** Does what `citeloop ingest <documents>` does, from listing the files to closing the collection. */
export async function ingestDirectory(
  documents: string,
  collections: string,
  embedder: () => Promise<Embedder>,
): Promise<IngestSummary> {
  const source = await createDocumentSource(documents, { files: { cwd: documents }, web: {} });
  const store = await createSqliteCatalog(collections).openOrCreate('bench', MINILM_IDENTITY);
  try {
    return await ingestSources(
      [source],
      { store, parse: createDocumentParser(), embedder, stillExists: documentFileExists, hasWords: true },
      { prune: false },
    );
  } finally {
    await store.close();
  }
}

const FILES = 1000;
const ROUNDS = 5;

/** Compares ingesting an unchanged corpus with the first ingest. */
export function benchReingest(): Promise<BenchmarkRow[]> {
  return withTemporaryDirectory(async (directory) => {
    const documents = join(directory, 'documents');
    const collections = join(directory, 'collections');
    await writeShortFiles(documents, FILES);
    const embedder = await loadDefaultEmbedder();
    let chunks = 0;
    const first = await measureMs(async () => {
      ({ chunks } = await ingestDirectory(documents, collections, async () => embedder));
    });
    const again: number[] = [];
    let unchanged = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      again.push(
        await measureMs(async () => {
          ({ unchanged } = await ingestDirectory(documents, collections, async () => embedder));
        }),
      );
    }
    await embedder.close();
    return [
      createRow(`reingest: first time, ${FILES} files, ${chunks} chunks`, first, 'ms'),
      createRow('reingest: unchanged, compared with the first time', median(again), 'ms', {
        ratio: median(again) / first,
        target: { of: 'ratio', atMost: 0.02 },
      }),
      createNote(
        `reingest: ${unchanged} of ${FILES} files were recognized as unchanged`,
        unchanged === FILES,
      ),
    ];
  });
}
