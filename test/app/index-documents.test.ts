import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createApp } from '../../src/app/create-app.ts';
import { createDocumentSource, indexDocuments } from '../../src/app/index-documents.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { startSite } from '../adapters/web/start-site.ts';
import { createWordEmbedder } from '../support/word-embedder.ts';

async function urisOf(argument: string, cwd = '/'): Promise<string[]> {
  const uris: string[] = [];
  const source = await createDocumentSource(argument, { files: { cwd }, web: { allowPrivate: true } });
  for await (const { uri } of source.entries()) uris.push(uri);
  return uris;
}

test('an http URL, in any case, is a web source', async () => {
  const site = await startSite({ '/': 'hello' });
  expect(await urisOf(site.origin.replace('http', 'HTTP'))).toEqual([`${site.origin}/`]);
});

test('anything else is a path', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'citeloop-source-'));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, 'http-notes.md'), 'x');
  expect(await urisOf('http-notes.md', cwd)).toEqual([expect.stringMatching(/^file:.*http-notes\.md$/)]);
});

test('rejects URLs of other schemes', async () => {
  await expect(urisOf('ftp://docs.test/a.md')).rejects.toMatchObject({ kind: 'invalid_input' });
});

test('rejects standard input with a hint', async () => {
  await expect(urisOf('-')).rejects.toMatchObject({
    kind: 'invalid_input',
    hint: expect.stringContaining('./-'),
  });
});

test('a first ingest that fails or is stopped leaves no collection', async () => {
  const home = await mkdtemp(join(tmpdir(), 'citeloop-source-'));
  onTestFinished(() => rm(home, { recursive: true }));
  await writeFile(join(home, 'note.md'), '# Okapis\n\nAn okapi is a giraffe of the forest.');
  const app = createApp(loadConfig({ flags: { home }, env: {}, cwd: home }), {
    embedder: createWordEmbedder(),
  });
  const run = (argument: string, signal?: AbortSignal) =>
    indexDocuments(app, 'okapis', [argument], {
      prune: true,
      signal,
      sources: { files: { cwd: home }, web: { allowPrivate: true } },
    });

  await expect(run('http://127.0.0.1:9/')).rejects.toThrow();
  expect(await app.catalog.list()).toEqual([]);
  await expect(run('note.md', AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  expect(await app.catalog.list()).toEqual([]);
  expect(await run('note.md')).toMatchObject({ added: 1 });
  expect(await app.catalog.list()).toEqual(['okapis']);
  expect(await run('note.md')).toMatchObject({ unchanged: 1 });
});
