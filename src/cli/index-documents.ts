import { createDocumentParser } from '../adapters/documents/parse-document.ts';
import { fileStillExists } from '../adapters/files/file-still-exists.ts';
import { createSource, type SourceOptions } from '../adapters/sources/create-source.ts';
import { type IngestSummary, ingest } from '../ingest/ingest.ts';
import type { App } from '../wire.ts';
import { createProgressBar } from './progress-bar.ts';

export interface IndexOptions {
  label: string;
  baseUrl?: string | undefined;
  module?: string | undefined;
  prune?: boolean;
  sources: SourceOptions;
  signal: AbortSignal;
}

/** Brings a collection up to date with what the arguments name, with a bar on stderr. */
export async function indexDocuments(
  app: App,
  collection: string,
  args: readonly string[],
  options: IndexOptions,
): Promise<IngestSummary> {
  // All of them first: a misspelt path must not cost an hour of embedding the others.
  const sources = [];
  for (const argument of args) sources.push(await createSource(argument, options.sources));

  const store = await app.catalog.openOrCreate(collection, await app.identity());
  const progress = createProgressBar(options.label);
  const started = performance.now();
  try {
    return await ingest(
      sources,
      {
        store,
        parse: createDocumentParser(),
        embedder: () => app.embedder({ bulk: true }),
        stillExists: fileStillExists,
      },
      {
        baseUrl: options.baseUrl,
        module: options.module,
        prune: options.prune ?? false,
        signal: options.signal,
        onProgress({ documents, totalDocuments, embeddedChunks }) {
          const rate = embeddedChunks / ((performance.now() - started) / 1000);
          progress.update({
            done: documents,
            total: totalDocuments,
            note: embeddedChunks === 0 ? '' : `${embeddedChunks} chunks, ${rate.toFixed(0)}/s`,
          });
        },
      },
    );
  } finally {
    progress.clear();
    await store.close();
  }
}
