import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSource } from '../../../src/adapters/sources/create-source.ts';
import { startSite } from '../web/start-site.ts';

async function urisOf(argument: string, cwd = '/'): Promise<string[]> {
  const uris: string[] = [];
  const source = await createSource(argument, { files: { cwd }, web: { allowPrivate: true } });
  for await (const { uri } of source.entries()) uris.push(uri);
  return uris;
}

test('an http URL, in whatever case, is a site', async () => {
  const site = await startSite({ '/': 'hello' });
  expect(await urisOf(site.origin.replace('http', 'HTTP'))).toEqual([`${site.origin}/`]);
});

test('anything else is a path', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'citeloop-source-'));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, 'http-notes.md'), 'x');
  expect(await urisOf('http-notes.md', cwd)).toEqual([expect.stringMatching(/^file:.*http-notes\.md$/)]);
});

test('a URL of another kind is refused as a path that does not exist', async () => {
  await expect(urisOf('ftp://docs.test/a.md')).rejects.toMatchObject({ kind: 'invalid_input' });
});
