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
import {
  neverRespond,
  resetConnection,
  respondWithJson,
  respondWithStatus,
  startFaultyServer,
} from '../../support/faulty-server.ts';
import { findFreePort } from '../../support/free-port.ts';
import { createTemporaryCatalog, getTestQdrant, startQdrant } from '../../support/qdrant-server.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const KEY = 'a-secret-key-4711';
const IDENTITY = { embedder: 'test:errors', dimensions: 8 };
const COLLECTIONS = respondWithJson('{"result":{"collections":[{"name":"book"}]},"status":"ok","time":0}');

/** The error of a rejected promise, which must be a sentence without the key. */
async function errorOf(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).message).toMatch(/\.$/);
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(KEY);
  return error as AppError;
}

/** Retries without waiting; `waits` collects the requested waits. */
function catalogAt(url: string, timeoutMs = 60_000, waits: number[] = []) {
  const sleep = async (ms: number) => void waits.push(ms);
  return createQdrantCatalog({ url, apiKey: KEY, timeoutMs, runtime: { ...systemRuntime, sleep } });
}

test('reports a server that is not running', async () => {
  const port = await findFreePort();
  expect(await errorOf(catalogAt(`http://127.0.0.1:${port}`).list())).toMatchObject({
    kind: 'retrieval_error',
    recoverable: true,
    message: `The Qdrant server at http://127.0.0.1:${port} cannot be reached (ECONNREFUSED).`,
    hint: expect.stringContaining('QDRANT_URL'),
  });
});

test('reports an untrusted certificate and names NODE_EXTRA_CA_CERTS', async ({ skip }) => {
  const directory = await createTemporaryDirectory();
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const made = spawnSync('openssl', [
    ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost'.split(
      ' ',
    ),
    ...['-keyout', key, '-out', cert],
  ]);
  if (made.status !== 0) {
    process.stderr.write('\nNOT TESTED: TLS errors, because openssl is not installed\n\n');
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

test('gives up on a silent server after the timeout', async () => {
  const { baseUrl } = await startFaultyServer(neverRespond);
  expect(await errorOf(catalogAt(baseUrl, 300).list())).toMatchObject({
    kind: 'retrieval_error',
    recoverable: true,
    message: expect.stringContaining('did not answer within 0.3 seconds'),
  });
});

test.each([
  ['resets the connection', resetConnection],
  ['answers with 500', respondWithStatus(500, '{"status":{"error":"disk on fire"}}')],
  ['answers with 503', respondWithStatus(503, 'upstream is gone')],
  ['answers with 429', respondWithStatus(429)],
])('retries when a server %s once', async (_, response) => {
  const { baseUrl, requests } = await startFaultyServer(response, COLLECTIONS);
  expect(await catalogAt(baseUrl).list()).toEqual(['book']);
  expect(requests()).toBe(2);
});

test.each([
  [
    'resets every connection',
    resetConnection,
    'retrieval_error',
    /cannot be reached \((ECONNRESET|UND_ERR_SOCKET)\)/,
  ],
  [
    'always answers with 500',
    respondWithStatus(500, '{"status":{"error":"disk on fire"}}'),
    'retrieval_error',
    /disk on fire/,
  ],
  ['always answers with 429', respondWithStatus(429), 'rate_limit', /too many requests/],
])('gives up when a server %s', async (_, response, kind, message) => {
  const { baseUrl, requests } = await startFaultyServer(response);
  const error = await errorOf(catalogAt(baseUrl).list());
  expect(error).toMatchObject({ kind, recoverable: true, message: expect.stringMatching(message) });
  expect(requests()).toBe(3);
});

test('waits as long as Retry-After says', async () => {
  const { baseUrl } = await startFaultyServer(
    respondWithStatus(429, '{}', { 'retry-after': '1' }),
    COLLECTIONS,
  );
  const waits: number[] = [];
  expect(await catalogAt(baseUrl, 60_000, waits).list()).toEqual(['book']);
  expect(waits).toEqual([1000]);
});

test('retries after a Retry-After that is a date', async () => {
  const header = new Date(Date.now() + 3_600_000).toUTCString();
  const { baseUrl } = await startFaultyServer(respondWithStatus(429, '{}', { 'retry-after': header }));
  expect(await errorOf(catalogAt(baseUrl).list())).toMatchObject({ kind: 'rate_limit' });
});

test.each([
  ['is not JSON', respondWithJson('<html>Welcome to nginx</html>')],
  ['ends in the middle', respondWithJson('{"result":{"collec')],
  ['is of another program', respondWithJson('{"hello":"world"}')],
  ['is a web page', respondWithStatus(200, '<html></html>', { 'content-type': 'text/html' })],
])('refuses a response that %s', async (_, answer) => {
  const { baseUrl } = await startFaultyServer(answer);
  expect(await errorOf(catalogAt(baseUrl).list())).toMatchObject({
    kind: 'retrieval_error',
    hint: expect.stringContaining('QDRANT_URL'),
  });
});

test.each([401, 403])(
  'does not show a key refused with %i, even if the server repeats it',
  async (status) => {
    const { baseUrl, requests } = await startFaultyServer(
      respondWithStatus(status, `{"status":{"error":"bad key ${KEY}"}}`),
    );
    expect(await errorOf(catalogAt(baseUrl).list())).toMatchObject({
      kind: 'auth_error',
      hint: expect.stringContaining('QDRANT_API_KEY'),
    });
    expect(requests()).toBe(1);
  },
);

test.each(['localhost:6333', 'ftp://files.example', 'nonsense', ''])('refuses the address %j', (url) => {
  expect(() => createQdrantCatalog({ url })).toThrow(
    expect.objectContaining({ kind: 'configuration_error', hint: expect.stringContaining('QDRANT_URL') }),
  );
});

test('does not show a user name and password in the address', async () => {
  const port = await findFreePort();
  const error = await errorOf(catalogAt(`http://me:${KEY}@127.0.0.1:${port}/path?key=${KEY}`).list());
  expect(error.message).toContain(`http://127.0.0.1:${port}/path `);
});

test('the client prints nothing to the terminal', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const { baseUrl } = await startFaultyServer(COLLECTIONS);
  await catalogAt(baseUrl).list();
  expect(warn).not.toHaveBeenCalled();
});

const server = await getTestQdrant();

describe.skipIf(server === null)('on a real server', () => {
  async function bookOn(given: NonNullable<typeof server>) {
    const catalog = createTemporaryCatalog(given);
    const store = await catalog.openOrCreate('book', IDENTITY);
    await store.write([sampleDocument('a', 8, { chunks: ['zebra'] })]);
    return { catalog, store };
  }

  test.skipIf(Boolean(process.env.QDRANT_URL))(
    'accepts the right key and reports a wrong or missing one',
    async () => {
      const locked = await startQdrant({ apiKey: KEY });
      onTestFinished(() => locked.stop());
      await bookOn(locked);
      for (const [apiKey, message] of [
        ['another', /did not accept the key/],
        [undefined, /requires a key/],
      ] as const) {
        const error = await errorOf(createQdrantCatalog({ url: locked.url, apiKey }).list());
        expect(error).toMatchObject({ kind: 'auth_error', message: expect.stringMatching(message) });
      }
    },
  );

  test('reports a collection that is deleted while it is open', async () => {
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

  test('refuses vectors of another length before sending them', async () => {
    if (server === null) return;
    const { store } = await bookOn(server);
    const wrong = { text: null, vector: vectorOf('zebra', 4), limit: 5, filter: {} };
    expect((await errorOf(store.search(wrong))).kind).toBe('configuration_error');
    const write = store.write([sampleDocument('b', 4, { chunks: ['zebra'] })]);
    expect((await errorOf(write)).kind).toBe('configuration_error');
  });
});
