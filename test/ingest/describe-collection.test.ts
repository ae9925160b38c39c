import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInProcess } from '../support/run-in-process.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';

async function ingest(files: Record<string, string>, ...flags: string[]) {
  const home = await createTemporaryDirectory();
  const documents = join(home, 'docs');
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(documents, path, '..'), { recursive: true });
    await writeFile(join(documents, path), text);
  }
  const run = async (...args: string[]) =>
    JSON.parse((await runInProcess([...args, '--json'], { home })).stdout);
  await run('ingest', documents, '--collection', 'c', ...flags);
  return {
    run,
    describe: async (...text: string[]) => (await run('collections', 'describe', 'c', ...text)).description,
  };
}

const PAGE = '# Installing\n\nCall the installer and follow its steps.';

test('describes a collection by the title and first sentence of its root document', async () => {
  const { describe } = await ingest({
    'guide/install.md': PAGE,
    'README.md': '# Acme\n\n![logo](logo.png)\n\nBadges\n\nA tool that folds paper by itself. It is fast.',
  });
  expect(await describe()).toBe('Acme: A tool that folds paper by itself.');
});

test('has no description without a root document, unless one is given', async () => {
  const { describe } = await ingest({ 'guide/README.md': PAGE });
  expect(await describe()).toBeNull();
  expect(await describe('The handbook\nof Acme')).toBe('The handbook of Acme');
  expect(await describe('')).toBeNull();
});

test('ingest --description sets it, and a later ingest keeps it', async () => {
  const { run, describe } = await ingest({ 'index.md': PAGE }, '--description', 'The handbook of Acme');
  expect(await describe()).toBe('The handbook of Acme');
  expect(await run('collections', 'show', 'c')).toMatchObject({ description: 'The handbook of Acme' });
});

test('search names words that no document contains, and suggests similar ones', async () => {
  const { run } = await ingest({ 'a.md': PAGE });
  const { absentWords, suggestions } = await run(
    'search',
    'folow zebra',
    '--collection',
    'c',
    '--mode',
    'lexical',
  );
  expect(absentWords).toEqual(['folow', 'zebra']);
  expect(suggestions).toEqual({ folow: 'follow' });
});
