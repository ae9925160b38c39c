import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { App, StoreKind } from '../../app/create-app.ts';
import { saveBaseline } from '../../app/embedders.ts';
import { STORES } from '../../domain/choices.ts';
import { AppError } from '../../faults/app-error.ts';
import { copyCollection } from '../../ingest/copy-collection.ts';
import type { ChunkStore, CollectionInfo, DocumentRecord } from '../../ports/chunk-store.ts';
import { fitThreshold } from '../../retrieval/fit-threshold.ts';
import { nearestName } from '../../text/nearest-name.ts';
import { counted } from '../../text/phrasing.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { createProgressBar } from '../terminal/progress.ts';
import { readableUrl } from '../terminal/render-answer.ts';
import { table } from '../terminal/table.ts';
import { confirmed, createTerminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrapping.ts';
import { setSetting } from './config.ts';
import { withApp } from './with-app.ts';

export interface CollectionFlags extends CommonFlags {
  name?: string | undefined;
  yes?: boolean | undefined;
}

export function listCollections(flags: CommonFlags): Promise<void> {
  return withApp({ flags }, async (app) => {
    const infos: CollectionInfo[] = [];
    for (const name of await app.catalog.list()) {
      // One that cannot be read must not hide the others; `doctor` says what is wrong with it.
      const info = await withStore(app, name, (store) => store.info()).catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error;
        process.stderr.write(`${name}: ${error.message}\n`);
        return null;
      });
      if (info !== null) infos.push(info);
    }
    if (flags.json) return void process.stdout.write(`${JSON.stringify({ collections: infos })}\n`);
    const terminal = createTerminal(process.stdout);
    if (infos.length === 0) {
      return terminal.write('There are no collections yet. Make one with: citeloop ingest <path>\n');
    }
    const rows = infos.map((info) => [
      info.name,
      String(info.documents),
      chunksOf(info),
      megabytes(info.bytes),
      info.updatedAt.slice(0, 16).replace('T', ' '),
      info.embedder,
    ]);
    terminal.write(
      table(terminal, ['name', 'documents', 'chunks', 'size', 'updated (UTC)', 'embedder'], rows),
    );
  });
}

export function showCollection(flags: CollectionFlags): Promise<void> {
  return withApp({ flags }, (app) =>
    withStore(app, flags.name ?? '', async (store) => {
      const info = await store.info();
      const documents = [];
      for await (const { url, title, module, chapter } of store.documents())
        documents.push({ url, title, module, chapter });
      if (flags.json)
        return void process.stdout.write(`${JSON.stringify({ ...info, documentList: documents })}\n`);
      const terminal = createTerminal(process.stdout);
      terminal.write(
        `${terminal.text(info.name, 'bold')}: ${info.documents} documents, ${chunksOf(info)} chunks, `,
      );
      terminal.write(`${megabytes(info.bytes)}\n`);
      renderText(terminal, `embedder ${info.embedder}, ${info.dimensions} dimensions`);
      renderText(terminal, `made ${info.createdAt}, updated ${info.updatedAt}`);
      terminal.write('\n');
      if (info.modules.length > 0) {
        const rows = info.modules.map(({ name, chunks }) => [name, String(chunks)]);
        terminal.write(`${table(terminal, ['module', 'chunks'], rows)}\n`);
      }
      terminal.write(
        table(
          terminal,
          ['document', 'module', 'url'],
          documents.map(({ title, module, url }) => [title, module ?? '', url]),
        ),
      );
    }),
  );
}

export function useCollection(flags: CollectionFlags): Promise<void> {
  return withApp({ flags }, async (app) => {
    const name = flags.name ?? '';
    const names = await app.catalog.list();
    if (!names.includes(name)) throw unknownCollection(`"${name}"`, names);
    await setSetting({ ...flags, setting: 'collection', value: name });
  });
}

export function deleteCollection(flags: CollectionFlags): Promise<void> {
  return withApp({ flags }, async (app) => {
    const name = flags.name ?? '';
    if (!(await app.catalog.list()).includes(name))
      throw unknownCollection(`"${name}"`, await app.catalog.list());
    if (flags.yes !== true && !(await confirmed(`Delete the collection "${name}" for good?`))) {
      process.stderr.write('Nothing was deleted.\n');
      return;
    }
    await app.catalog.delete(name);
    if (flags.json) process.stdout.write(`${JSON.stringify({ deleted: name })}\n`);
    else process.stdout.write(`Deleted ${name}.\n`);
  });
}

export interface RemoveFlags extends CommonFlags {
  name?: string | undefined;
  document?: string | undefined;
}

export function removeFromCollection(flags: RemoveFlags): Promise<void> {
  const { name = '', document: wanted = '' } = flags;
  return withApp({ flags }, (app) =>
    withStore(app, name, async (store) => {
      const documents: DocumentRecord[] = [];
      for await (const document of store.documents()) documents.push(document);
      const below = documentsBelow(wanted, documents);
      const found = below.length > 0 ? below : [documentNamed(wanted, documents, name)];
      await store.remove(found.map(({ uri }) => uri));
      await store.settle();
      const urls = found.map(({ url }) => url);
      if (flags.json) {
        const removed = below.length > 0 ? urls : urls[0];
        return void process.stdout.write(`${JSON.stringify({ collection: name, removed })}\n`);
      }
      const terminal = createTerminal(process.stdout);
      const what = below.length > 0 ? counted(below.length, 'document') : readableUrl(urls[0] ?? '');
      terminal.write(`Removed ${terminal.text(what)} from ${terminal.text(name, 'bold')}.\n`);
      if (found.some(({ uri }) => uri.startsWith('file:') && existsSync(fileURLToPath(uri)))) {
        const them = found.length === 1 ? 'it' : 'them';
        terminal.write(
          `The next ingest brings ${them} back, unless a .citeloopignore or --exclude leaves ${them} out.\n`,
        );
      }
    }),
  );
}

/** What was ingested from below a directory, whether that is still there or not. */
function documentsBelow(path: string, documents: readonly DocumentRecord[]): DocumentRecord[] {
  // Nothing named is not the working directory.
  if (path.trim() === '') return [];
  const directory = pathToFileURL(`${resolve(path)}/`).href;
  return documents.filter(({ uri }) => uri.startsWith(directory));
}

/** The one document with this address or path, or with this end of it. Throws `invalid_input` for none or several. */
function documentNamed(wanted: string, documents: readonly DocumentRecord[], name: string): DocumentRecord {
  const path = pathToFileURL(wanted).href;
  const exact = documents.filter(({ uri, url }) =>
    [wanted, path].some((each) => each === uri || each === url),
  );
  const end = `/${wanted.replace(/^(\.?\/)+/, '')}`;
  const ending = documents.filter(({ uri, url }) =>
    [uri, url].some((each) => each.endsWith(end) || `/${readableUrl(each)}`.endsWith(end)),
  );
  const found = exact.length > 0 ? exact : ending;
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const list = (found.length > 0 ? found : documents).map(({ url }) => readableUrl(url));
  if (found.length > 1) {
    throw new AppError('invalid_input', `${found.length} documents of "${name}" are named ${wanted}.`, {
      hint: `Say which: ${list.slice(0, 5).join(', ')}${list.length > 5 ? ', …' : ''}.`,
    });
  }
  const near = nearestName(wanted, list);
  throw new AppError('invalid_input', `There is no document ${wanted} in "${name}".`, {
    hint: near === undefined ? `List them with: citeloop collections show ${name}` : `Did you mean ${near}?`,
  });
}

export interface CopyFlags extends CommonFlags {
  from?: string | undefined;
  to?: string | undefined;
  prune?: boolean | undefined;
}

interface Place {
  store: StoreKind;
  name: string;
}

export function copyCollections({ from: source = '', to: target = '', ...flags }: CopyFlags): Promise<void> {
  return withApp(
    {
      flags,
      whenInterrupted: 'What was copied so far is kept; the same command goes on from there.',
    },
    async (app, { signal }) => {
      const [from, to] = [placeOf(source, app), placeOf(target, app)];
      if (from.store === to.store && from.name === to.name) {
        throw new AppError('invalid_input', `${shown(from)} cannot be copied onto itself.`);
      }
      const summary = await copy(app, from, to, flags.prune ?? false, signal);
      if (flags.json) {
        process.stdout.write(`${JSON.stringify({ from: shown(from), to: shown(to), ...summary })}\n`);
        return;
      }
      const terminal = createTerminal(process.stdout);
      const counts = (['copied', 'unchanged', 'removed'] as const)
        .filter((kind) => summary[kind] > 0)
        .map((kind) => `${summary[kind]} ${kind}`);
      terminal.write(
        `${terminal.text(shown(to), 'bold')}: ${counts.join(', ') || 'nothing to do'}; ` +
          `${summary.chunks} chunks written, none embedded\n`,
      );
      if (summary.kept > 0) {
        terminal.write(`It has ${summary.kept} more documents than the source; --prune removes them.\n`);
      }
    },
  );
}

async function copy(app: App, from: Place, to: Place, prune: boolean, signal: AbortSignal) {
  const source = await app.catalogOf(from.store).open(from.name);
  if (source === null) {
    throw unknownCollection(shown(from), await app.catalogOf(from.store).list());
  }
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

/** `qdrant:name`, or a name in the configured store. */
function placeOf(text: string, app: App): Place {
  const store = STORES.find((known) => text.startsWith(`${known}:`));
  const name = store === undefined ? text : text.slice(store.length + 1);
  if (!/^\w[\w.-]{0,127}$/.test(name)) {
    throw new AppError('invalid_input', `"${text}" is not the name of a collection.`, {
      hint: 'Write for example web_documents, sqlite:web_documents or qdrant:web_documents.',
    });
  }
  return { store: store ?? app.config.store, name };
}

function shown({ store, name }: Place): string {
  return `${store}:${name}`;
}

export interface ThresholdFlags extends CollectionFlags {
  save?: boolean | undefined;
}

/** Finds out by a collection's own documents from which score on a passage counts as relevant. */
export function fitCollectionThreshold(flags: ThresholdFlags): Promise<void> {
  return withApp({ flags }, (app, { signal }) =>
    withStore(app, flags.name ?? '', async (store) => {
      await app.assertReadable(store);
      const { directory } = app.config.embedding;
      if (flags.save && directory === undefined) {
        throw new AppError(
          'invalid_input',
          '--save is for a model of your own: --embedder onnx:<directory>.',
          {
            hint: 'For any other, set AGENT_SCORE_THRESHOLD to what is found.',
          },
        );
      }
      const bar = createProgressBar('Comparing sentences with passages');
      const fitted = await fitThreshold(store, await app.embedder(), {
        signal,
        onProgress: (done, total) => bar.update({ done, total }),
      }).finally(bar.clear);
      const saved =
        flags.save && directory !== undefined ? await saveBaseline(directory, fitted.baseline) : null;
      const { embedder } = store.identity;
      if (flags.json) {
        process.stdout.write(`${JSON.stringify({ collection: store.name, embedder, ...fitted, saved })}\n`);
        return;
      }
      const { documents, passages, baseline, threshold, ownKept, othersKept } = fitted;
      const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
      const terminal = createTerminal(process.stdout);
      terminal.write(
        `${terminal.text(store.name, 'bold')}: texts that have nothing to do with each other have a cosine of about ` +
          `${baseline} with ${embedder}, so passages from ${threshold} on count as relevant.\n` +
          `${percent(ownKept)} of the sentences reach that with their own passage, ${percent(othersKept)} of the pairs ` +
          `with a passage of another document (${passages} passages of ${documents} documents).\n`,
      );
      if (saved !== null)
        terminal.write(`Kept in ${terminal.text(saved)} for every collection of this model.\n`);
      else if (directory !== undefined) terminal.write('Keep it with --save.\n');
      else terminal.write(`Use it with --threshold ${threshold}, or AGENT_SCORE_THRESHOLD=${threshold}.\n`);
    }),
  );
}

async function withStore<T>(app: App, name: string, work: (store: ChunkStore) => Promise<T>): Promise<T> {
  const names = await app.catalog.list();
  const store = names.includes(name) ? await app.catalog.open(name) : null;
  if (store === null) throw unknownCollection(`"${name}"`, names);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function unknownCollection(name: string, names: readonly string[]): AppError {
  const nearest = nearestName(name.replaceAll('"', ''), names);
  const there = names.length > 0 ? `There is: ${names.join(', ')}.` : 'Make one with: citeloop ingest <path>';
  return new AppError('invalid_input', `There is no collection ${name}.`, {
    hint: nearest === undefined ? there : `Did you mean ${nearest}? ${there}`,
  });
}

/** Those that are still to be embedded are told apart. */
function chunksOf({ chunks, withoutVector }: CollectionInfo): string {
  return withoutVector === 0 ? String(chunks) : `${chunks} (${withoutVector} without vector)`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
