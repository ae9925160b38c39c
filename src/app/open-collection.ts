import { pathToFileURL } from 'node:url';
import type { Filter } from '../domain/query.ts';
import { advice, ingestAdvice, withSetting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { sampleBookDirectory } from '../package.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import type { RunObserver } from '../tape/run-observer.ts';
import { findNearestName } from '../text/nearest-name.ts';
import { oneLine } from '../text/visible-text.ts';
import { type App, usesReranker } from './create-app.ts';

/** The collection of the sample book, which is used until the user has one. */
export const SAMPLE_COLLECTION = 'sample_book';
const SAMPLE_DESCRIPTION =
  'physical AI, robot anatomy and control, ROS 2, simulation, NVIDIA Isaac and vision-language-action models';

/**
 * Opens the chosen or default collection. If no collection was chosen and the default one does not exist, opens the last
 * used or the only one, or indexes the sample book; the app's listener receives an event. Throws `invalid_input` otherwise.
 */
export async function openCollection(
  app: App,
  signal: AbortSignal,
  tape: RunObserver | null = null,
): Promise<ChunkStore> {
  const store = await open(app, signal, tape);
  await tape?.noteCollection(store, app.config.store === 'sqlite');
  return store;
}

/** Opens the chosen or default collection like `openCollection`, but never indexes the sample book. */
export function openExistingCollection(app: App): Promise<ChunkStore> {
  return open(app, AbortSignal.any([]), null, false);
}

async function open(
  app: App,
  signal: AbortSignal,
  tape: RunObserver | null,
  mayIndexSample = hasSample(app),
): Promise<ChunkStore> {
  // A missing key is reported before anything is indexed.
  if (usesReranker(app.config)) await app.reranker();
  const { collection } = app.config.agent;
  const isSample = collection === SAMPLE_COLLECTION;
  // A replay does not update the sample book.
  const store =
    isSample && mayIndexSample && !tape?.replaying ? null : await openFilled(app, collection, tape);
  if (store !== null) {
    await app.assertReadable(store);
    return store;
  }
  const { collectionChosen } = app.config;
  const names = await app.catalog.list();
  const others = names.filter((name) => name !== SAMPLE_COLLECTION && name !== collection);
  const found = collectionChosen ? null : await openLastUsed(app, others, tape);
  if (found !== null) {
    await app.assertReadable(found);
    if (others.length > 1) app.emit({ type: 'default_collection', name: found.name });
    return found;
  }
  const hasNone = others.length === 0 || !collectionChosen;
  const book = mayIndexSample && (isSample || hasNone) ? sampleBookDirectory() : null;
  if (book === null || (collectionChosen && !isSample)) {
    const known = (mayIndexSample ? await listCollectionNames(app) : names).filter(
      (name) => name !== collection,
    );
    const nearest = findNearestName(collection, known);
    const choice =
      nearest !== undefined
        ? advice`Did you mean ${nearest}? `
        : others.length > 0
          ? advice`Choose one of ${known.join(', ')}${withSetting('collection')}. `
          : [];
    const [problem, action] = names.includes(collection)
      ? [`The collection "${collection}" is empty.`, 'Fill' as const]
      : [`Unknown collection "${collection}".`, 'Create' as const];
    throw new AppError('invalid_input', problem, { hint: [...choice, ...ingestAdvice(action, collection)] });
  }
  if (!isSample) app.emit({ type: 'sample_book' });
  return openSampleBook(app, book, signal);
}

/**
 * The collection of the last conversation, or the one that was ingested last; null if all are empty. On a server, only
 * the collection of a conversation or the only one: others may belong to other programs.
 */
async function openLastUsed(
  app: App,
  names: readonly string[],
  tape: RunObserver | null,
): Promise<ChunkStore | null> {
  if (names.length === 1) return openFilled(app, names[0] ?? '', tape);
  const sessions = await app.sessions();
  const [last] = await sessions.list({ limit: 1 });
  await sessions.close();
  let best: { store: ChunkStore; usedAt: string } | null = null;
  // A conversation may be about several collections.
  const lastNames = last?.collection.split(',') ?? [];
  const wasJoined = lastNames.length > 1 && lastNames.every((name) => names.includes(name));
  for (const name of wasJoined && last ? [...names, last.collection] : names) {
    const isLast = last?.collection === name;
    const store = isLast || app.config.store === 'sqlite' ? await openFilled(app, name, tape) : null;
    if (store === null) continue;
    const { updatedAt } = await store.info();
    const usedAt = isLast && last.updatedAt > updatedAt ? last.updatedAt : updatedAt;
    const isBetter = best === null || usedAt > best.usedAt;
    await (isBetter ? best?.store : store)?.close();
    if (isBetter) best = { store, usedAt };
  }
  return best?.store ?? null;
}

/** All collections, and the sample book, which is indexed on first use. */
export async function listCollectionNames(app: App): Promise<string[]> {
  const names = await app.catalog.list();
  return hasSample(app) ? [...new Set([...names, SAMPLE_COLLECTION])] : names;
}

/** The collection, or null if it does not exist or is empty. */
async function openFilled(app: App, name: string, tape: RunObserver | null): Promise<ChunkStore | null> {
  const store = await app.catalog.open(name);
  // A tape records no request that the run itself does not need.
  const mayCount = app.config.store === 'sqlite' || tape === null;
  if (store === null || !mayCount || (await store.count({})) > 0) return store;
  await store.close();
  return null;
}

/** The sample book is used with the embedded store and embedder only, never on a server or a paid service. */
function hasSample({ config }: App): boolean {
  return config.store === 'sqlite' && config.embedding.embedder === 'minilm';
}

/** Indexes the sample book; after the first time only its changes. */
async function openSampleBook(app: App, book: string, signal: AbortSignal): Promise<ChunkStore> {
  const { createDocumentSource, indexSources } = await import('./index-documents.ts');
  const root = pathToFileURL(`${book}/`).href;
  try {
    await indexSources(
      app,
      SAMPLE_COLLECTION,
      [await createDocumentSource(book, { files: { cwd: book }, web: {} })],
      {
        // Replaces the book of another installation.
        stillExists: async (uri) => uri.startsWith(root),
        prune: false,
        description: SAMPLE_DESCRIPTION,
        signal,
        onProgress: (progress) => app.emit({ type: 'sample_progress', progress }),
      },
    );
  } finally {
    app.emit({ type: 'sample_indexed' });
  }
  const store = await app.catalog.openOrCreate(SAMPLE_COLLECTION, await app.identity());
  // Files that only the book of another installation has.
  const others: string[] = [];
  for await (const { uri } of store.documents()) if (!uri.startsWith(root)) others.push(uri);
  if (others.length > 0) await store.remove(others);
  return store;
}

const BUILT_IN_KEYS = ['module', 'chapter', 'title', 'url', 'uri'];

/** Throws `invalid_input` for a key or module that no document of the collection has. */
export async function assertKnownFilter(store: ChunkStore, filter: Filter): Promise<void> {
  for (const key of Object.keys(filter)) {
    if (BUILT_IN_KEYS.includes(key) || (await store.count({ [key]: filter[key] ?? [] })) > 0) continue;
    const known = new Set(BUILT_IN_KEYS.filter((own) => own !== 'uri'));
    for await (const { metadata } of store.documents()) for (const name in metadata) known.add(name);
    if (known.has(key)) continue;
    throw new AppError(
      'invalid_input',
      `Collection "${store.name}" has no filter key "${oneLine(key, 60)}".`,
      {
        hint: suggestNames(key, [...known]),
      },
    );
  }
  for (const module of filter.module ?? []) {
    if ((await store.count({ module: [module] })) > 0) continue;
    const names = (await store.info()).modules.map(({ name }) => name);
    throw new AppError(
      'invalid_input',
      `Collection "${store.name}" has no module "${oneLine(module, 60)}".`,
      {
        hint: names.length > 0 ? suggestNames(module, names) : 'Its documents have no modules.',
      },
    );
  }
}

function suggestNames(given: string, names: readonly string[]): string {
  const nearest = findNearestName(given, names);
  const all = `It has: ${names.join(', ')}.`;
  return nearest === undefined ? all : `Did you mean ${nearest}? ${all}`;
}
