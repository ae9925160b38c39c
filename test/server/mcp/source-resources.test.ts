import { expect, test } from 'vitest';
import { toSourceUri } from '../../../src/server/mcp/source-resources.ts';
import { connectInMemory } from './connect-mcp.ts';
import { mcpLibrary } from './small-mcp-library.ts';

const NOT_FOUND = -32602;
const INVALID_PARAMS = -32602;

const urlOf = (path: string) => `https://library.example/${encodeURIComponent(path)}`;

test('lists every document once, in pages, and reads each', async () => {
  const documents = Object.fromEntries(
    Array.from({ length: 230 }, (_, index) => [`m/Page ${index}`, `This is the text of page ${index}.`]),
  );
  const { library } = await mcpLibrary(documents);
  const client = await connectInMemory(library);
  const names: string[] = [];
  const sizes: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listResources(cursor === undefined ? {} : { cursor });
    names.push(...page.resources.map(({ name }) => name));
    sizes.push(page.resources.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(sizes).toEqual([100, 100, 30]);
  expect(new Set(names)).toEqual(new Set(Array.from({ length: 230 }, (_, index) => `Page ${index}`)));
  const { contents } = await client.readResource({ uri: toSourceUri(urlOf('m/Page 77')) });
  expect(contents).toEqual([
    {
      uri: toSourceUri(urlOf('m/Page 77')),
      mimeType: 'text/plain',
      text: '# Page 77\n\nThis is the text of page 77.',
    },
  ]);
});

test('continues after a deleted document', async () => {
  const documents = Object.fromEntries(
    Array.from({ length: 150 }, (_, index) => [`m/P${String(index).padStart(3, '0')}`, `Text ${index}.`]),
  );
  const { library, small } = await mcpLibrary(documents);
  const client = await connectInMemory(library);
  const first = await client.listResources();
  await small.store.remove([urlOf('m/P099'), urlOf('m/P000')]);
  const second = await client.listResources({ cursor: first.nextCursor });
  expect(second.resources.map(({ name }) => name)).toEqual(
    Array.from({ length: 50 }, (_, index) => `P${String(index + 100).padStart(3, '0')}`),
  );
  await expect(client.readResource({ uri: toSourceUri(urlOf('m/P000')) })).rejects.toMatchObject({
    code: NOT_FOUND,
  });
});

test('refuses an invalid cursor', async () => {
  const { library } = await mcpLibrary({ 'm/One': 'Text.' });
  const client = await connectInMemory(library);
  for (const cursor of ['', 'x', '../../etc', Buffer.from('{"after":7}').toString('base64url')]) {
    await expect(client.listResources({ cursor }), cursor).rejects.toMatchObject({ code: INVALID_PARAMS });
  }
});

test('reads only documents of the collection', async () => {
  const { library } = await mcpLibrary({ 'm/One': 'Text.' });
  const client = await connectInMemory(library);
  const known = toSourceUri(urlOf('m/One'));
  const id = known.slice('citeloop://sources/'.length);
  const hostile = [
    'file:///etc/passwd',
    'file:///etc/passwd#citeloop://sources/',
    '/etc/passwd',
    '../../../../etc/passwd',
    'citeloop://sources/',
    'citeloop://sources/../../etc/passwd',
    'citeloop://sources/..%2f..%2fetc%2fpasswd',
    `citeloop://sources/${id}/../../../etc/passwd`,
    `citeloop://sources/${id}\n`,
    `citeloop://sources/${id}?x`,
    `citeloop://sources/${id.toUpperCase()}X`,
    `citeloop://sources/${'0'.repeat(32)}`,
    `citeloop://sessions/${id}`,
    `http://127.0.0.1/${id}`,
    urlOf('m/One'),
    '__proto__',
    '',
    `citeloop://sources/${'a'.repeat(100_000)}`,
  ];
  for (const uri of hostile) {
    await expect(client.readResource({ uri }), uri.slice(0, 80)).rejects.toMatchObject({
      code: NOT_FOUND,
      message: expect.not.stringContaining('root:'),
    });
  }
  await expect(client.readResource({ uri: known })).resolves.toMatchObject({
    contents: [{ text: '# One\n\nText.' }],
  });
});
