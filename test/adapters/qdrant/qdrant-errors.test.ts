import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createQdrantCatalog } from '../../../src/adapters/qdrant/qdrant-catalog.ts';
import { systemRuntime } from '../../../src/app/system-runtime.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import { sampleDocument, vectorOf } from '../../contracts/sample-documents.ts';
import { fail, json, reset, silence, startFaultyServer } from '../../support/faulty-server.ts';
import { freePort } from '../../support/free-port.ts';
import { serverForTests, startQdrant, temporaryCatalog } from '../../support/qdrant-server.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const KEY = 'a-key-that-nobody-may-see-4711';
const IDENTITY = { embedder: 'test:faults', dimensions: 8 };
const COLLECTIONS = json('{"result":{"collections":[{"name":"book"}]},"status":"ok","time":0}');

/** What it fails with: always a sentence with a hint, and never the key. */
async function errorOf(work: Promise<unknown>): Promise<AppError> {
  const fault = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(fault).toBeInstanceOf(AppError);
  expect((fault as AppError).message).toMatch(/\.$/);
  expect(inspect(fault, { depth: 9, showHidden: true })).not.toContain(KEY);
  return fault as AppError;
}

/** Nobody waits before another attempt; `waits` is what would have been waited for. */
function catalogAt(url: string, timeoutMs = 60_000, waits: number[] = []) {
  const sleep = async (ms: number) => void waits.push(ms);
  return createQdrantCatalog({ url, apiKey: KEY, timeoutMs, runtime: { ...systemRuntime, sleep } });
}

test('a server that does not run is said to be out of reach, with what to do', async () => {
  const port = await freePort();
  expect(await errorOf(catalogAt(`http://127.0.0.1:${port}`).list())).toMatchObject({
    kind: 'retrieval_error',
    recoverable: true,
    message: `The Qdrant server at http://127.0.0.1:${port} cannot be reached (ECONNREFUSED).`,
    hint: expect.stringContaining('QDRANT_URL'),
  });
});

test('a server whose certificate is not believed is said to be so, with the setting that helps', async ({
  skip,
}) => {
  const directory = await temporaryDirectory();
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const made = spawnSync('openssl', [
    ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost'.split(
      ' ',
    ),
    ...['-keyout', key, '-out', cert],
  ]);
  if (made.status !== 0) {
    process.stderr.write(
      '\nNOT TESTED: faults of TLS, since there is no openssl to make a certificate with\n\n',
    );
    skip('no openssl');
  }
  const server = createServer({ key: await readFile(key), cert: await readFile(cert) }).listen(
    0,
    '127.0.0.1',
  );
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await errorOf(catalogAt(`https://127.0.0.1:${port}`).list())).toMatchObject({
    kind: 'retrieval_error',
    recoverable: false,
    message: `The Qdrant server at https://127.0.0.1:${port} cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT).`,
    hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
  });
});

test('a server that says nothing is given up after the time that was set', async () => {
  const { baseUrl } = await startFaultyServer(silence);
  expect(await errorOf(catalogAt(baseUrl, 300).list())).toMatchObject({
    kind: 'retrieval_error',
    recoverable: true,
    message: expect.stringContaining('did not answer within 0.3 seconds'),
  });
});

test.each([
  ['resets the connection', reset],
  ['answers with 500', fail(500, '{"status":{"error":"disk on fire"}}')],
  ['answers with 503', fail(503, 'upstream is gone')],
  ['answers with 429', fail(429)],
])('a server that once %s is asked again', async (_, fault) => {
  const { baseUrl, requests } = await startFaultyServer(fault, COLLECTIONS);
  expect(await catalogAt(baseUrl).list()).toEqual(['book']);
  expect(requests()).toBe(2);
});

test.each([
  ['resets every connection', reset, 'retrieval_error', /cannot be reached \((ECONNRESET|UND_ERR_SOCKET)\)/],
  [
    'always answers with 500',
    fail(500, '{"status":{"error":"disk on fire"}}'),
    'retrieval_error',
    /disk on fire/,
  ],
  ['always answers with 429', fail(429), 'rate_limit', /too many requests/],
])('a server that %s is given up after a few times', async (_, fault, kind, message) => {
  const { baseUrl, requests } = await startFaultyServer(fault);
  const error = await errorOf(catalogAt(baseUrl).list());
  expect(error).toMatchObject({ kind, recoverable: true, message: expect.stringMatching(message) });
  expect(requests()).toBe(4);
});

test('waits as long as Retry-After says', async () => {
  const { baseUrl } = await startFaultyServer(fail(429, '{}', { 'retry-after': '1' }), COLLECTIONS);
  const waits: number[] = [];
  expect(await catalogAt(baseUrl, 60_000, waits).list()).toEqual(['book']);
  expect(waits).toEqual([1000]);
});

test('retries after a Retry-After that is a date', async () => {
  const header = new Date(Date.now() + 3_600_000).toUTCString();
  const { baseUrl } = await startFaultyServer(fail(429, '{}', { 'retry-after': header }));
  expect(await errorOf(catalogAt(baseUrl).list())).toMatchObject({ kind: 'rate_limit' });
});

test.each([
  ['is no JSON', json('<html>Welcome to nginx</html>')],
  ['ends in the middle', json('{"result":{"collec')],
  ['is another program’s', json('{"hello":"world"}')],
  ['is a web page', fail(200, '<html></html>', { 'content-type': 'text/html' })],
])('an answer that %s is said to be none of Qdrant’s', async (_, answer) => {
  const { baseUrl } = await startFaultyServer(answer);
  expect(await errorOf(catalogAt(baseUrl).list())).toMatchObject({
    kind: 'retrieval_error',
    hint: expect.stringContaining('QDRANT_URL'),
  });
});

test.each([401, 403])(
  'a key that is refused with %i is not shown, even if the server repeats it',
  async (status) => {
    const { baseUrl, requests } = await startFaultyServer(
      fail(status, `{"status":{"error":"bad key ${KEY}"}}`),
    );
    expect(await errorOf(catalogAt(baseUrl).list())).toMatchObject({
      kind: 'auth_error',
      hint: expect.stringContaining('QDRANT_API_KEY'),
    });
    expect(requests()).toBe(1);
  },
);

test.each(['localhost:6333', 'ftp://files.example', 'nonsense', ''])('the address %j is refused', (url) => {
  expect(() => createQdrantCatalog({ url })).toThrow(
    expect.objectContaining({ kind: 'configuration_error', hint: expect.stringContaining('QDRANT_URL') }),
  );
});

test('a user name and password in the address are not shown', async () => {
  const port = await freePort();
  const fault = await errorOf(catalogAt(`http://me:${KEY}@127.0.0.1:${port}/path?key=${KEY}`).list());
  expect(fault.message).toContain(`http://127.0.0.1:${port}/path `);
});

test('nothing is written to the terminal by the client, whatever the server is', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const { baseUrl } = await startFaultyServer(COLLECTIONS);
  await catalogAt(baseUrl).list();
  expect(warn).not.toHaveBeenCalled();
});

const server = await serverForTests();

describe.skipIf(server === null)('on a real server', () => {
  async function bookOn(given: NonNullable<typeof server>) {
    const catalog = temporaryCatalog(given);
    const store = await catalog.openOrCreate('book', IDENTITY);
    await store.write([sampleDocument('a', 8, { chunks: ['zebra'] })]);
    return { catalog, store };
  }

  test.skipIf(Boolean(process.env.QDRANT_URL))(
    'a server with a key takes the right one, and neither a wrong one nor none',
    async () => {
      const locked = await startQdrant({ apiKey: KEY });
      onTestFinished(() => locked.stop());
      await bookOn(locked);
      for (const [apiKey, message] of [
        ['another', /did not accept the key/],
        [undefined, /requires a key/],
      ] as const) {
        const fault = await errorOf(createQdrantCatalog({ url: locked.url, apiKey }).list());
        expect(fault).toMatchObject({ kind: 'auth_error', message: expect.stringMatching(message) });
      }
    },
  );

  test('a collection that goes while it is open is said to be gone', async () => {
    if (server === null) return;
    const { catalog, store } = await bookOn(server);
    await catalog.delete('book');
    const search = { text: 'zebra', vector: vectorOf('zebra', 8), limit: 5, filter: {} };
    for (const work of [() => store.search(search), () => store.count({}), () => store.info()]) {
      expect(await errorOf(work())).toMatchObject({
        kind: 'retrieval_error',
        message: expect.stringContaining('"book"'),
      });
    }
  });

  test('vectors of another length are refused before they are sent', async () => {
    if (server === null) return;
    const { store } = await bookOn(server);
    const wrong = { text: null, vector: vectorOf('zebra', 4), limit: 5, filter: {} };
    expect((await errorOf(store.search(wrong))).kind).toBe('configuration_error');
    const write = store.write([sampleDocument('b', 4, { chunks: ['zebra'] })]);
    expect((await errorOf(write)).kind).toBe('configuration_error');
  });
});
