import { createInterruptibleParser } from '../adapters/documents/parse-document.ts';
import { createFileSource, type FileSourceOptions, fileStillExists } from '../adapters/files/file-source.ts';
import type { WebSourceOptions } from '../adapters/web/web-source.ts';
import { AppError } from '../faults/app-error.ts';
import { type IngestedStore, type IngestOptions, type IngestSummary, ingest } from '../ingest/ingest.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { DocumentParser, DocumentSource } from '../ports/loader.ts';
import { counted } from '../text/phrasing.ts';
import type { App } from './create-app.ts';
import { tellWhatIsLeft, whatIsLeft } from './what-is-left.ts';

interface SourceOptions {
  files: FileSourceOptions;
  web: WebSourceOptions;
}

/** The source that an argument names: a site for an http(s) URL, else files. Throws `invalid_input`, also for other schemes. */
export async function createSource(argument: string, options: SourceOptions): Promise<DocumentSource> {
  if (argument === '-') {
    throw new AppError(
      'invalid_input',
      'Documents are not read from standard input: they need an address to be cited by.',
      {
        hint: 'Write it to a file and ingest that; a file that is called - is ./-',
      },
    );
  }
  const scheme = /^([a-z][a-z\d+.-]+):\/\//i.exec(argument)?.[1]?.toLowerCase() ?? 'file';
  if (scheme === 'file') return createFileSource(argument, options.files);
  if (scheme !== 'http' && scheme !== 'https') {
    throw new AppError(
      'invalid_input',
      `${argument} cannot be read: ${scheme} addresses are not supported.`,
      {
        hint: 'Give an http or https address, or a path on this machine.',
      },
    );
  }
  const { createWebSource } = await import('../adapters/web/web-source.ts');
  return createWebSource(argument, options.web);
}

/** Brings a collection, which is made if there is none, up to date with what the arguments name. */
export async function indexDocuments(
  app: App,
  collection: string,
  args: readonly string[],
  { sources: sourceOptions, ...options }: IngestOptions & { sources: SourceOptions },
): Promise<IngestSummary> {
  // All of them first: a misspelt path must not cost an hour of embedding the others.
  const sources: DocumentSource[] = [];
  for (const path of args) sources.push(await sourceOrWhatIsLeft(path));
  return indexSources(app, collection, sources, { ...options, stillExists: fileStillExists });

  /** A directory that was emptied is one to prune; whatever else cannot be read is refused, with what is left of it. */
  async function sourceOrWhatIsLeft(path: string): Promise<DocumentSource> {
    const { files } = sourceOptions;
    try {
      return await createSource(path, sourceOptions);
    } catch (failure) {
      const where = { collection, path, cwd: files.cwd };
      const left = await whatIsLeft(app, where);
      if (!options.prune || !left.isThere || left.gone.length === 0)
        throw tellWhatIsLeft(failure, left, where);
      const source = await createSource(path, { ...sourceOptions, files: { ...files, mayBeEmpty: true } });
      const { length } = left.gone;
      files.onNotice?.(
        `${path} holds no document any more: ${counted(length, 'document is', 'documents are')} forgotten.`,
      );
      return source;
    }
  }
}

interface IndexSourcesOptions extends IngestOptions {
  stillExists: (uri: string) => Promise<boolean>;
  /** Titles that stand beside the documents; without it they are looked for in their texts. */
  titleOf?: (uri: string) => string | null;
}

/** The same with sources of any kind. */
export async function indexSources(
  app: App,
  collection: string,
  sources: readonly DocumentSource[],
  { stillExists, titleOf, ...options }: IndexSourcesOptions,
): Promise<IngestSummary> {
  const read = createInterruptibleParser();
  const parse: DocumentParser =
    titleOf === undefined
      ? read
      : async (raw, signal) => ({ ...(await read(raw, signal)), title: titleOf(raw.uri) });
  const store = await openForWriting(app, collection);
  try {
    const embedder = () => app.embedder({ bulk: true });
    return await ingest(sources, { store, parse, embedder, stillExists }, options);
  } finally {
    await store.close();
  }
}

/**
 * The collection, or one that is made with its first document: an ingest that fails or is stopped before that leaves
 * nothing that looks like a collection.
 */
async function openForWriting(
  { catalog, identity }: App,
  name: string,
): Promise<IngestedStore & Pick<ChunkStore, 'close'>> {
  const made = await identity();
  if ((await catalog.list()).includes(name)) return catalog.openOrCreate(name, made);
  let store: ChunkStore | undefined;
  return {
    async *documents() {},
    vectors: async (contentHashes) => (await store?.vectors(contentHashes)) ?? new Map(),
    async write(documents) {
      store ??= await catalog.openOrCreate(name, made);
      await store.write(documents);
    },
    unembedded: async () => (await store?.unembedded()) ?? [],
    chunks: async (chunkIds) => (await store?.chunks(chunkIds)) ?? [],
    addVectors: async (vectors) => store?.addVectors(vectors),
    remove: async (uris) => store?.remove(uris),
    settle: async () => store?.settle(),
    close: async () => store?.close(),
  };
}
