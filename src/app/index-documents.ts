import {
  createFileSource,
  documentFileExists,
  type FileSourceOptions,
} from '../adapters/files/file-source.ts';
import type { WebSourceOptions } from '../adapters/web/web-source.ts';
import { AppError } from '../faults/app-error.ts';
import { describeCollection } from '../ingest/describe-collection.ts';
import {
  type IngestedStore,
  type IngestOptions,
  type IngestSummary,
  ingestSources,
} from '../ingest/ingest.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { DocumentParser, DocumentSource } from '../ports/document-source.ts';
import type { App } from './create-app.ts';
import { assertOneCollection } from './joined-collections.ts';
import { createParserProcess, type ParserProcess } from './parser-process.ts';

interface SourceOptions {
  files: FileSourceOptions;
  web: WebSourceOptions;
}

/** A web source for an http(s) URL, a file source for a path. Throws `invalid_input` for other URLs. */
export async function createDocumentSource(
  argument: string,
  options: SourceOptions,
): Promise<DocumentSource> {
  if (argument === '-') {
    throw new AppError(
      'invalid_input',
      'Documents cannot be read from standard input: a citation needs an address.',
      {
        hint: 'Write it to a file and ingest that. For a file named -, use ./-',
      },
    );
  }
  const scheme = /^([a-z][a-z\d+.-]+):\/\//i.exec(argument)?.[1]?.toLowerCase() ?? 'file';
  if (scheme === 'file') return createFileSource(argument, options.files);
  if (scheme !== 'http' && scheme !== 'https') {
    throw new AppError('invalid_input', `Cannot read ${argument}: ${scheme} URLs are not supported.`, {
      hint: 'Give an http or https URL, or a path.',
    });
  }
  const { createWebSource } = await import('../adapters/web/web-source.ts');
  return createWebSource(argument, options.web);
}

/** Updates a collection from the given paths and URLs; creates it if needed. */
export async function indexDocuments(
  app: App,
  collection: string,
  args: readonly string[],
  { sources: { files, web }, ...options }: DescribedIngestOptions & { sources: SourceOptions },
): Promise<IngestSummary> {
  assertOneCollection(collection);
  const parser = createParserProcess(app.config.parsing);
  const sourceOptions = {
    web: { ...web, extractLinks: parser.extractLinks },
    // With pruning, a directory without documents removes those that it had.
    files: { ...files, mayBeEmpty: options.prune },
  };
  // All of them first, so that a misspelt path fails before anything is embedded.
  const sources: DocumentSource[] = [];
  for (const path of args) sources.push(await createDocumentSource(path, sourceOptions));
  return indexSources(app, collection, sources, { ...options, parser, stillExists: documentFileExists });
}

interface DescribedIngestOptions extends IngestOptions {
  /** What the documents are about; by default from their root document. */
  description?: string | undefined;
}

interface IndexSourcesOptions extends DescribedIngestOptions {
  stillExists: (uri: string) => Promise<boolean>;
  /** Titles from elsewhere; by default they are read from the documents. */
  titleOf?: (uri: string) => string | null;
  /** Closed at the end. */
  parser?: ParserProcess;
}

/** Updates a collection from sources of any kind. */
export async function indexSources(
  app: App,
  collection: string,
  sources: readonly DocumentSource[],
  { stillExists, titleOf, parser = createParserProcess(app.config.parsing), ...options }: IndexSourcesOptions,
): Promise<IngestSummary> {
  const parse: DocumentParser =
    titleOf === undefined
      ? parser.parse
      : async (raw, signal) => ({ ...(await parser.parse(raw, signal)), title: titleOf(raw.uri) });
  const { store, opened } = await openForWriting(app, collection);
  try {
    const embedder = () => app.embedder({ bulk: true });
    const hasWords = await app.hasWords();
    const summary = await ingestSources(sources, { store, parse, embedder, hasWords, stillExists }, options);
    const written = opened();
    if (written !== undefined && (summary.chunks > 0 || options.description !== undefined))
      await describeCollection(written, options.description);
    return summary;
  } finally {
    parser.close();
    await store.close();
  }
}

/** The collection, created with its first document: an ingest that fails before that leaves no empty collection. */
async function openForWriting(
  { catalog, identity }: App,
  name: string,
): Promise<{ store: IngestedStore & Pick<ChunkStore, 'close'>; opened: () => ChunkStore | undefined }> {
  const made = await identity();
  let store: ChunkStore | undefined;
  const opened = () => store;
  if ((await catalog.list()).includes(name)) {
    store = await catalog.openOrCreate(name, made);
    return { store, opened };
  }
  const created: IngestedStore & Pick<ChunkStore, 'close'> = {
    async *documents() {},
    vectors: async (contentHashes) => (await store?.vectors(contentHashes)) ?? new Map(),
    async write(documents) {
      store ??= await catalog.openOrCreate(name, made);
      await store.write(documents);
    },
    unembedded: async (which) => (await store?.unembedded(which)) ?? [],
    chunks: async (chunkIds) => (await store?.chunks(chunkIds)) ?? [],
    addVectors: async (vectors) => store?.addVectors(vectors),
    remove: async (uris) => store?.remove(uris),
    settle: async () => store?.settle(),
    close: async () => store?.close(),
  };
  return { store: created, opened };
}
