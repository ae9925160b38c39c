import { pathToFileURL } from 'node:url';
import { AppError } from '../domain/app-error.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import { type App, SAMPLE_COLLECTION, sampleBook } from '../wire.ts';
import type { TapeRun } from './tape/tape-run.ts';

/**
 * The collection to search: the one that was named, or the default one, or, as long as there is none, the
 * sample book, which is indexed on first use. Says on stderr when it is the sample.
 */
export async function openCollection(
  app: App,
  signal: AbortSignal,
  tape: TapeRun | null = null,
): Promise<ChunkStore> {
  const store = await open(app, signal, tape?.replaying ?? false);
  await tape?.opened(store, app.config.store === 'sqlite');
  return store;
}

async function open(app: App, signal: AbortSignal, replaying: boolean): Promise<ChunkStore> {
  // A missing key is told before anything is indexed.
  if (app.config.rerank.on) await app.reranker();
  const { collection } = app.config.agent;
  const isSample = collection === SAMPLE_COLLECTION;
  // A replay takes the sample as it is, too.
  const store = isSample && hasSample(app) && !replaying ? null : await app.catalog.open(collection);
  if (store !== null) {
    await app.assertReadable(store);
    return store;
  }
  const others = (await app.catalog.list()).filter((name) => name !== SAMPLE_COLLECTION);
  const only =
    app.config.collectionChosen || others.length !== 1 ? null : await app.catalog.open(others[0] ?? '');
  if (only !== null) {
    await app.assertReadable(only);
    process.stderr.write(`This is the collection ${only.name}, the only one there is.\n`);
    return only;
  }
  const book = hasSample(app) && (isSample || others.length === 0) ? sampleBook() : null;
  if (book === null || (app.config.collectionChosen && !isSample)) {
    const hint = others.length > 0 ? `There is: ${others.join(', ')}; choose one with --collection. ` : '';
    throw new AppError('invalid_input', `There is no collection "${collection}".`, {
      hint: `${hint}Make it with: citeloop ingest <path> --collection ${collection}`,
    });
  }
  if (!isSample) {
    process.stderr.write(
      'You have not indexed any documents yet, so this is the sample book. Yours: citeloop ingest <path>\n',
    );
  }
  return openSampleBook(app, book, signal);
}

/** The sample belongs to the embedded default: nobody's server is filled with it, and no service paid for it. */
function hasSample({ config }: App): boolean {
  return config.store === 'sqlite' && config.embedding.embedder === 'minilm';
}

/** Kept up to date with the book that came with the program: next to nothing to do after the first time. */
async function openSampleBook(app: App, book: string, signal: AbortSignal): Promise<ChunkStore> {
  const { indexDocuments } = await import('./index-documents.ts');
  await indexDocuments(app, SAMPLE_COLLECTION, [book], {
    label: 'Indexing the sample book',
    signal,
    sources: { files: { cwd: book }, web: {} },
  });
  const store = await app.catalog.openOrCreate(SAMPLE_COLLECTION, await app.identity());
  // Another copy of the program may have indexed its own.
  const strangers: string[] = [];
  const root = pathToFileURL(`${book}/`).href;
  for await (const { uri } of store.documents()) if (!uri.startsWith(root)) strangers.push(uri);
  if (strangers.length > 0) await store.remove(strangers);
  return store;
}
