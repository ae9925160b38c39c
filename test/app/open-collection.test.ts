import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AppEvent } from '../../src/app/app-event.ts';
import { type App, createApp } from '../../src/app/create-app.ts';
import { indexDocuments } from '../../src/app/index-documents.ts';
import { openCollection, SAMPLE_COLLECTION } from '../../src/app/open-collection.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';
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

async function indexNote(app: App, collection: string): Promise<void> {
  const directory = await createTemporaryDirectory();
  await writeFile(join(directory, 'note.md'), '# Okapis\n\nAn okapi is a giraffe of the forest.');
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

test('uses the only collection if none was chosen, and emits an event', async () => {
  const { app, events } = await appIn(await createTemporaryDirectory());
  await indexNote(app, 'okapis');
  await makeEmpty(app, 'web_documents');
  const store = await openCollection(app, signal);
  expect(store.name).toBe('okapis');
  expect(events).toEqual([{ type: 'only_collection', name: 'okapis' }]);
  await store.close();
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
