import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { App, StoreKind } from '../../app/create-app.ts';
import { STORE_KINDS } from '../../domain/setting-choices.ts';
import { AppError } from '../../faults/app-error.ts';
import { copyCollection } from '../../ingest/copy-collection.ts';
import { describeCollection } from '../../ingest/describe-collection.ts';
import type { ChunkStore, CollectionInfo, DocumentRecord } from '../../ports/chunk-store.ts';
import { formatCount } from '../../text/format-count.ts';
import { findNearestName } from '../../text/nearest-name.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { CommonFlags, FlagValues, Switches } from '../flags/common-flags.ts';
import { formatUrl } from '../terminal/format-source.ts';
import { formatTable } from '../terminal/format-table.ts';
import { createProgressBar } from '../terminal/progress.ts';
import { formatMinute } from '../terminal/render-session.ts';
import { confirmDeletion, createTerminal, printJson } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrap-text.ts';
import { withApp } from './with-app.ts';

export interface CollectionFlags
  extends CommonFlags,
    FlagValues<'name' | 'document' | 'from' | 'to' | 'text', string>,
    Switches<'prune' | 'yes'> {}

export function listCollections(flags: CommonFlags): Promise<void> {
  return withApp({ flags }, async (app) => {
    const collections: CollectionInfo[] = [];
    for (const name of await app.catalog.list()) {
      try {
        collections.push(await withStore(app, name, (store) => store.info()));
      } catch (error) {
        // One unreadable collection must not hide the others.
        if (!(error instanceof AppError)) throw error;
        process.stderr.write(`${name}: ${error.message}\n`);
      }
    }
    if (flags.json) return printJson({ collections });
    const terminal = createTerminal(process.stdout);
    if (collections.length === 0) {
      return terminal.write('No collections yet. Create one: citeloop ingest <path>\n');
    }
    const rows = collections.map((info) => [
      info.name,
      String(info.documents),
      formatChunkCount(info),
      formatMegabytes(info.bytes),
      formatMinute(info.updatedAt),
      info.embedder,
    ]);
    terminal.write(
      formatTable(terminal, ['name', 'documents', 'chunks', 'size', 'updated (UTC)', 'embedder'], rows),
    );
  });
}

export function showCollection(flags: CollectionFlags): Promise<void> {
  return withApp({ flags }, (app) =>
    withStore(app, flags.name ?? '', async (store) => {
      const info = await store.info();
      const documents = await Array.fromAsync(store.documents());
      if (flags.json) {
        const documentList = documents.map(({ url, title, module, chapter }) => ({
          url,
          title,
          module,
          chapter,
        }));
        return printJson({ ...info, documentList });
      }
      const size = `${info.documents} documents, ${formatChunkCount(info)} chunks, ${formatMegabytes(info.bytes)}`;
      const times = `created ${formatMinute(info.createdAt)}, updated ${formatMinute(info.updatedAt)} (UTC)`;
      const modules = info.modules.map((module) => [module.name, String(module.chunks)]);
      const rows = documents.map(({ title, module, url }) => [title, module ?? '', url]);
      const terminal = createTerminal(process.stdout);
      renderText(terminal, `${info.name}: ${size}`, { style: 'bold' });
      if (info.description) renderText(terminal, info.description);
      renderText(terminal, `embedder ${info.embedder}, ${info.dimensions} dimensions`);
      renderText(terminal, times);
      terminal.write('\n');
      if (modules.length > 0) terminal.write(`${formatTable(terminal, ['module', 'chunks'], modules)}\n`);
      terminal.write(formatTable(terminal, ['document', 'module', 'url'], rows));
    }),
  );
}

/** Sets the description, or shows it if no text is given. */
export function runCollectionDescribe(flags: CollectionFlags): Promise<void> {
  return withApp({ flags }, async (app) => {
    const collection = await existingName(app, flags);
    const store = await app.catalog.openOrCreate(collection, await app.identity());
    try {
      if (flags.text !== undefined) await describeCollection(store, flags.text);
      const { description = null } = await store.info();
      if (flags.json) printJson({ collection, description });
      else process.stdout.write(`${description ?? `${collection} has no description.`}\n`);
    } finally {
      await store.close();
    }
  });
}

export function deleteCollection(flags: CollectionFlags): Promise<void> {
  return withApp({ flags }, async (app) => {
    const name = await existingName(app, flags);
    if (!flags.yes && !(await confirmDeletion(`Delete collection "${name}"?`))) return;
    await app.catalog.delete(name);
    if (flags.json) printJson({ deleted: name });
    else process.stdout.write(`Deleted ${name}.\n`);
  });
}

export function removeCollectionDocuments(flags: CollectionFlags): Promise<void> {
  const { name = '', document: wanted = '' } = flags;
  return withApp({ flags }, (app) =>
    withStore(app, name, async (store) => {
      const documents = await Array.fromAsync(store.documents());
      const below = documentsBelow(wanted, documents);
      const found = below.length > 0 ? below : [findDocument(wanted, documents, name)];
      await store.remove(found.map(({ uri }) => uri));
      await store.settle();
      const urls = found.map(({ url }) => url);
      if (flags.json) return printJson({ collection: name, removed: below.length > 0 ? urls : urls[0] });
      const terminal = createTerminal(process.stdout);
      const removed = below.length > 0 ? formatCount(below.length, 'document') : formatUrl(urls[0] ?? '');
      terminal.write(`Removed ${terminal.text(removed)} from ${terminal.text(name, 'bold')}.\n`);
      if (found.some(({ uri }) => uri.startsWith('file:') && existsSync(fileURLToPath(uri)))) {
        const them = found.length === 1 ? 'it' : 'them';
        terminal.write(
          `The next ingest adds ${them} again. Use .citeloopignore or --exclude to leave ${them} out.\n`,
        );
      }
    }),
  );
}

/** Documents that were ingested from below a directory, whether it still exists or not. */
function documentsBelow(path: string, documents: readonly DocumentRecord[]): DocumentRecord[] {
  // A blank path would mean the working directory.
  if (path.trim() === '') return [];
  const directory = pathToFileURL(`${resolve(path)}/`).href;
  return documents.filter(({ uri }) => uri.startsWith(directory));
}

/** The document with this URL, path, or end of a path. Throws `invalid_input` for none or several. */
function findDocument(wanted: string, documents: readonly DocumentRecord[], name: string): DocumentRecord {
  const path = pathToFileURL(wanted).href;
  const exact = documents.filter(({ uri, url }) =>
    [wanted, path].some((each) => each === uri || each === url),
  );
  const end = `/${wanted.replace(/^(\.?\/)+/, '')}`;
  const ending = documents.filter(({ uri, url }) =>
    [uri, url].some((each) => each.endsWith(end) || `/${formatUrl(each)}`.endsWith(end)),
  );
  const found = exact.length > 0 ? exact : ending;
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const paths = (found.length > 0 ? found : documents).map(({ url }) => formatUrl(url));
  if (found.length > 1) {
    throw new AppError('invalid_input', `${found.length} documents in "${name}" match ${wanted}.`, {
      hint: `Give more of the path: ${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ', …' : ''}.`,
    });
  }
  const nearest = findNearestName(wanted, paths);
  throw new AppError('invalid_input', `No document ${wanted} in "${name}".`, {
    hint:
      nearest === undefined
        ? `List documents: citeloop collections show ${name}`
        : `Did you mean ${nearest}?`,
  });
}

interface StoredCollection {
  store: StoreKind;
  name: string;
}

export function runCollectionCopy({
  from: source = '',
  to: target = '',
  ...flags
}: CollectionFlags): Promise<void> {
  const whenInterrupted = 'Copied documents are saved. Run the same command to continue.';
  return withApp({ flags, whenInterrupted }, async (app, { signal }) => {
    const [from, to] = [parseStoredName(source, app), parseStoredName(target, app)];
    if (from.store === to.store && from.name === to.name) {
      const message = `Cannot copy ${formatStoredName(from)} to itself.`;
      throw new AppError('invalid_input', message, { hint: 'Choose another name for the copy.' });
    }
    const summary = await copy(app, from, to, flags.prune ?? false, signal);
    if (flags.json) {
      return printJson({ from: formatStoredName(from), to: formatStoredName(to), ...summary });
    }
    const terminal = createTerminal(process.stdout);
    const counts = (['copied', 'unchanged', 'removed'] as const)
      .filter((kind) => summary[kind] > 0)
      .map((kind) => `${summary[kind]} ${kind}`);
    const result = `${counts.join(', ') || 'nothing to do'}; ${summary.chunks} chunks written`;
    terminal.write(`${terminal.text(formatStoredName(to), 'bold')}: ${result}\n`);
    if (summary.kept > 0) {
      terminal.write(`${summary.kept} documents are only in the copy. Use --prune to remove them.\n`);
    }
  });
}

async function copy(
  app: App,
  from: StoredCollection,
  to: StoredCollection,
  prune: boolean,
  signal: AbortSignal,
) {
  const sources = app.catalogOf(from.store);
  const source = await sources.open(from.name);
  if (source === null) throw unknownCollectionError(formatStoredName(from), await sources.list());
  const progress = createProgressBar(`Copying ${from.name}`);
  try {
    const target = await app.catalogOf(to.store).openOrCreate(to.name, source.identity);
    try {
      return await copyCollection(source, target, {
        prune,
        signal,
        onProgress: ({ documents, totalDocuments, chunks }) =>
          progress.update({ done: documents, total: totalDocuments, note: `${chunks} chunks` }),
      });
    } finally {
      await target.close();
    }
  } finally {
    progress.clear();
    await source.close();
  }
}

/** `qdrant:name`, or a name in the configured store. Throws `invalid_input`. */
function parseStoredName(text: string, app: App): StoredCollection {
  const store = STORE_KINDS.find((known) => text.startsWith(`${known}:`));
  const name = store === undefined ? text : text.slice(store.length + 1);
  if (!/^\w[\w.-]{0,127}$/.test(name)) {
    throw new AppError('invalid_input', `"${text}" is not a valid collection name.`, {
      hint: 'Examples: my_docs, sqlite:my_docs, qdrant:my_docs.',
    });
  }
  return { store: store ?? app.config.store, name };
}

function formatStoredName({ store, name }: StoredCollection): string {
  return `${store}:${name}`;
}

async function withStore<T>(app: App, name: string, work: (store: ChunkStore) => Promise<T>): Promise<T> {
  const store = await app.catalog.open(await existingName(app, { name }));
  if (store === null) throw unknownCollectionError(name, []);
  return work(store).finally(() => store.close());
}

async function existingName(app: App, { name = '' }: Pick<CollectionFlags, 'name'>): Promise<string> {
  const names = await app.catalog.list();
  if (names.includes(name)) return name;
  throw unknownCollectionError(name, names);
}

export function unknownCollectionError(name: string, names: readonly string[]): AppError {
  const nearest = findNearestName(name, names);
  const all = oneLine(names.join(', '), 300);
  const known = all === '' ? 'Create one: citeloop ingest <path>' : `Collections: ${all}.`;
  return new AppError('invalid_input', `Unknown collection "${oneLine(name, 60)}".`, {
    hint: nearest === undefined ? known : `Did you mean ${nearest}? ${known}`,
  });
}

function formatChunkCount({ chunks, withoutVector }: CollectionInfo): string {
  return withoutVector === 0 ? String(chunks) : `${chunks} (${withoutVector} not embedded)`;
}

export function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
