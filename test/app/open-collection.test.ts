import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assistantMessage, ScriptedModel } from '@openai/agents/testing';
import { expect, test } from 'vitest';
import type { AppEvent } from '../../src/app/app-event.ts';
import { type App, createApp } from '../../src/app/create-app.ts';
import { indexDocuments } from '../../src/app/index-documents.ts';
import { openCollection, SAMPLE_COLLECTION } from '../../src/app/open-collection.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createQuery } from '../../src/domain/query.ts';
import type { SmallLibrary } from '../support/small-library.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';
import { askAndWait, createTestAgent } from '../support/test-agent.ts';
import { createWordEmbedder } from '../support/word-embedder.ts';

const { signal } = new AbortController();

async function appIn(home: string, flags: Record<string, unknown> = {}) {
  const events: AppEvent[] = [];
  const config = loadConfig({ flags: { home, ...flags }, env: {}, cwd: home });
  const app = createApp(config, {
    embedder: createWordEmbedder(),
    onEvent: (event) => void events.push(event),
  });
  return { app, events };
}

async function makeEmpty(app: App, name: string): Promise<void> {
  await (await app.catalog.openOrCreate(name, await app.identity())).close();
}

async function indexNote(
  app: App,
  collection: string,
  note = '# Okapis\n\nAn okapi is a giraffe of the forest.',
): Promise<void> {
  const directory = await createTemporaryDirectory();
  await writeFile(join(directory, 'note.md'), note);
  await indexDocuments(app, collection, [directory], {
    prune: false,
    sources: { files: { cwd: directory }, web: {} },
  });
}

test('indexes the sample book if there is no collection, and emits events', async () => {
  const { app, events } = await appIn(await createTemporaryDirectory());
  await makeEmpty(app, 'web_documents');
  await makeEmpty(app, 'left_over');
  const store = await openCollection(app, signal);
  expect(store.name).toBe(SAMPLE_COLLECTION);
  expect((await store.info()).documents).toBeGreaterThan(10);
  await store.close();
  const types = events.map(({ type }) => type);
  expect(types.at(0)).toBe('sample_book');
  expect(types).toContain('sample_progress');
  expect(types.at(-1)).toBe('sample_indexed');
});

test('uses the only collection if none was chosen, and says nothing', async () => {
  const { app, events } = await appIn(await createTemporaryDirectory());
  await indexNote(app, 'okapis');
  await makeEmpty(app, 'web_documents');
  const store = await openCollection(app, signal);
  expect(store.name).toBe('okapis');
  expect(events).toEqual([]);
  await store.close();
});

test('uses the last ingested collection, or that of a later conversation, if none was chosen', async () => {
  const { app, events } = await appIn(await createTemporaryDirectory());
  await indexNote(app, 'gnus');
  await indexNote(app, 'okapis');
  const ingested = await openCollection(app, signal);
  expect(ingested.name).toBe('okapis');
  const gnus = await app.catalog.open('gnus');
  const agent = createTestAgent(
    { store: gnus } as SmallLibrary,
    new ScriptedModel([[assistantMessage('Hello.')]]),
    { sessions: await app.sessions() },
  );
  await askAndWait(await agent.startSession(), 'Hello?');
  const asked = await openCollection(app, signal);
  expect(asked.name).toBe('gnus');
  expect(events.map((event) => event.type === 'default_collection' && event.name)).toEqual([
    'okapis',
    'gnus',
  ]);
  for (const store of [ingested, gnus, asked]) await store?.close();
});

test('searches several collections at once, with labelled titles and separate chunk ids', async () => {
  const home = await createTemporaryDirectory();
  const { app } = await appIn(home, { collection: 'okapis,gnus' });
  await indexNote(app, 'okapis');
  await indexNote(app, 'gnus', '# Gnus\n\nA gnu is an antelope of the savanna.');
  const store = await openCollection(app, signal);
  expect(store.name).toBe('okapis,gnus');
  expect(await store.info()).toMatchObject({ documents: 2, chunks: 2, name: 'okapis,gnus' });
  const retriever = await app.retriever(store, { mode: 'hybrid' });
  const { context } = await retriever.retrieve(createQuery({ text: 'okapi giraffe gnu antelope' }));
  expect(context.chunks.map(({ title }) => title).sort()).toEqual(['Gnus (gnus)', 'Okapis (okapis)']);
  const ids = context.chunks.map(({ chunkId }) => chunkId);
  expect(new Set(ids).size).toBe(2);
  expect((await store.chunks(ids)).map(({ chunkId }) => chunkId)).toEqual(ids);
  expect((await store.neighbours(ids[1] ?? '', 1, 1)).map(({ chunkId }) => chunkId)).toEqual([ids[1]]);
  await expect(store.remove(['x'])).rejects.toMatchObject({ kind: 'invalid_input' });
  await store.close();
  await expect(indexNote(app, 'okapis,gnus')).rejects.toMatchObject({ kind: 'invalid_input' });
  const { app: other } = await appIn(home, { collection: 'okapis,zebras' });
  await expect(openCollection(other, signal)).rejects.toMatchObject({
    message: 'Unknown collection "zebras".',
  });
});

test('rejects a chosen collection that does not exist, without an event', async () => {
  const { app, events } = await appIn(await createTemporaryDirectory(), { collection: 'gnus' });
  await expect(openCollection(app, signal)).rejects.toMatchObject({ kind: 'invalid_input' });
  expect(events).toEqual([]);
});

test('rejects a chosen collection that is empty', async () => {
  const { app } = await appIn(await createTemporaryDirectory(), { collection: 'gnus' });
  await makeEmpty(app, 'gnus');
  await expect(openCollection(app, signal)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: 'The collection "gnus" is empty.',
    hint: 'Fill it by ingesting documents into it.',
  });
});

test('opens the sessions of the data directory', async () => {
  const home = await createTemporaryDirectory();
  const { app } = await appIn(home);
  const sessions = await app.sessions();
  expect(await sessions.list()).toEqual([]);
  await sessions.close();
});
