import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCallerRegistry } from '../../src/server/http/callers.ts';
import { readPageFiles } from '../../src/server/http/page-files.ts';
import { anyCharacter } from '../support/any-character.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';
import { startAgentServer } from './start-agent-server.ts';

const TOKEN = 'a-token-that-is-long-enough';
const HTML = '<!doctype html><title>citeloop</title>';

interface Raw {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A raw request, with headers and paths that `fetch` does not send. */
function raw(url: string, { method = 'GET', path, headers = {}, body }: Raw) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>(
    (resolve, reject) => {
      const { hostname, port } = new URL(url);
      const sent = request({ hostname, port, method, path, headers }, async (response) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: await text(response) });
      });
      sent.on('error', reject);
      sent.end(body);
    },
  );
}

const json = { 'content-type': 'application/json' };
const question = JSON.stringify({ question: 'What is a zebra?' });

test('refuses unknown host names on every route', async () => {
  const { url } = await startAgentServer();
  const port = new URL(url).port;
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '169.254.169.254',
    '[::2]',
    'x@127.0.0.1',
  ]) {
    for (const path of ['/', '/healthz', '/v1/models', '/api/sessions']) {
      const { status, body } = await raw(url, { path, headers: { host } });
      expect({ host, path, refused: status === 403 || status === 400 }).toEqual({
        host,
        path,
        refused: true,
      });
      expect(body).not.toContain('animals');
    }
    const asked = await raw(url, {
      method: 'POST',
      path: '/api/ask',
      headers: { ...json, host },
      body: question,
    });
    expect(asked.status).toBeGreaterThanOrEqual(400);
  }
  for (const host of [
    'localhost',
    `localhost:${port}`,
    '127.0.0.1',
    '127.1.2.3',
    '[::1]',
    `LOCALHOST:${port}`,
  ])
    expect((await raw(url, { path: '/healthz', headers: { host } })).status).toBe(200);
});

test('refuses a request line with the address of another host', async () => {
  const { url } = await startAgentServer();
  for (const path of ['http://evil.example/healthz', 'https://evil.example/', 'http://localhost:1/healthz'])
    expect((await raw(url, { path })).status).toBe(403);
  expect((await raw(url, { path: `${url}/healthz` })).status).toBe(200);
});

test('accepts addresses and allowed names on other interfaces', async () => {
  const { url } = await startAgentServer({
    token: TOKEN,
    hosts: { names: ['docs.example'], anyAddress: true },
  });
  const statusFor = async (host: string) => (await raw(url, { path: '/healthz', headers: { host } })).status;
  expect(await statusFor('docs.example')).toBe(200);
  expect(await statusFor('192.168.1.4:8088')).toBe(200);
  expect(await statusFor('[fe80::1]:8088')).toBe(200);
  expect(await statusFor('evil.example')).toBe(403);
});

test('refuses requests from pages of other sites', async () => {
  const { url, sessions, post } = await startAgentServer();
  await (await post('/api/ask', { question: 'What is a zebra?' })).text();
  const [kept] = await sessions.list();
  const path = `/api/sessions/${kept?.sessionId}`;
  const host = new URL(url).host;
  const foreign = [
    'https://evil.example',
    'http://localhost:3000',
    'null',
    'http://127.0.0.1',
    `file://${host}`,
  ];
  for (const origin of foreign) {
    const headers = { ...json, origin, host };
    expect((await raw(url, { method: 'POST', path: '/api/ask', headers, body: question })).status).toBe(403);
    expect((await raw(url, { method: 'POST', path: '/v1/responses', headers, body: '{}' })).status).toBe(403);
    expect((await raw(url, { method: 'DELETE', path, headers })).status).toBe(403);
    expect((await raw(url, { path, headers })).status).toBe(403);
    const preflight = await raw(url, { method: 'OPTIONS', path: '/api/ask', headers });
    expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
    expect(preflight.status).toBeGreaterThanOrEqual(400);
  }
  for (const site of ['cross-site', 'same-site']) {
    const headers = { ...json, 'sec-fetch-site': site };
    expect((await raw(url, { method: 'POST', path: '/api/ask', headers, body: question })).status).toBe(403);
    expect((await raw(url, { path: '/v1/models', headers })).status).toBe(403);
  }
  expect(await sessions.list()).toHaveLength(1);
  const own = { ...json, origin: url, host, 'sec-fetch-site': 'same-origin' };
  expect((await raw(url, { method: 'POST', path: '/api/ask', headers: own, body: question })).status).toBe(
    200,
  );
});

test('refuses forms that pose as JSON', async () => {
  const { url, sessions } = await startAgentServer();
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', '']) {
    const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
    const { status } = await raw(url, { method: 'POST', path: '/api/ask', headers, body: question });
    expect(status).toBe(415);
  }
  expect(await sessions.list()).toEqual([]);
});

test('requires the token except for the page and /healthz', async () => {
  const page = new Map([
    ['/', { body: new TextEncoder().encode(HTML), type: 'text/html', etag: '"1"', immutable: false }],
  ]);
  const { url, client } = await startAgentServer({ token: TOKEN, page });
  const wrong = [
    '',
    'Bearer',
    'Bearer ',
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    TOKEN,
    `Basic ${btoa(TOKEN)}`,
    `Bearer ${'x'.repeat(8000)}`,
  ];
  for (const authorization of wrong) {
    for (const path of ['/v1/models', '/api/about', '/api/sessions', '/api/collections', '/api/sources/x']) {
      const { status, headers, body } = await raw(url, { path, headers: { authorization } });
      expect({ path, status }).toEqual({ path, status: 401 });
      expect(headers['www-authenticate']).toBe('Bearer');
      expect(body).not.toContain(TOKEN);
    }
    const asked = await raw(url, {
      method: 'POST',
      path: '/api/ask',
      headers: { ...json, authorization },
      body: question,
    });
    expect(asked.status).toBe(401);
  }
  expect((await raw(url, { path: `/v1/models?token=${TOKEN}` })).status).toBe(401);
  expect((await raw(url, { path: '/' })).body).toBe(HTML);
  expect((await raw(url, { path: '/healthz' })).status).toBe(200);
  const completion = await client.responses.create({ model: 'citeloop', input: 'What is a zebra?' });
  expect(completion.output_text).toContain('striped');
});

test('compares whole tokens by digest', async () => {
  const { Hono } = await import('hono');
  const app = new Hono()
    .use(createCallerRegistry([{ name: null, token: TOKEN }]).guard)
    .get('/', (context) => context.text('in'));
  app.onError(() => new Response(null, { status: 401 }));
  await fc.assert(
    fc.asyncProperty(fc.stringMatching(/^[\x21-\x7e]{0,64}$/), async (given) => {
      const response = await app.request('/', { headers: { authorization: `Bearer ${given}` } });
      expect(response.status === 200).toBe(given === TOKEN);
    }),
  );
  expect((await app.request('/', { headers: { authorization: `bearer ${TOKEN}` } })).status).toBe(200);
});

test('prevents path traversal', async () => {
  const directory = await createTemporaryDirectory();
  await mkdir(join(directory, 'page/assets'), { recursive: true });
  await writeFile(join(directory, 'secret.txt'), 'TOP SECRET');
  await writeFile(join(directory, 'page/index.html'), HTML);
  await writeFile(join(directory, 'page/assets/app-Abcd1234.js'), 'export {}');
  await symlink(join(directory, 'secret.txt'), join(directory, 'page/assets/link.txt'));
  await symlink(directory, join(directory, 'page/up'));
  const { url } = await startAgentServer({ page: await readPageFiles(join(directory, 'page')) });
  const ups = [
    '../',
    '..%2f',
    '%2e%2e/',
    '%2e%2e%2f',
    '..\\',
    '..%5c',
    '....//',
    '%252e%252e%252f',
    '..%00/',
    '.%2e/',
    '..;/',
  ];
  const prefixes = [
    '/',
    '/assets/',
    '/api/sources/',
    '/api/sessions/',
    '/v1/models/',
    '/v1/models/citeloop/',
    '/api/sources/x?collection=',
  ];
  for (const prefix of prefixes) {
    for (const up of ups) {
      for (const target of ['secret.txt', 'sessions', 'etc/passwd']) {
        const { status, body } = await raw(url, { path: `${prefix}${up.repeat(4)}${target}` });
        expect({ prefix, up, target, found: status < 400 }).toEqual({ prefix, up, target, found: false });
        expect(body).not.toMatch(/TOP SECRET|root:/);
      }
    }
  }
  for (const path of [
    '/assets/link.txt',
    '/up/secret.txt',
    '/assets',
    '/assets/',
    '//secret.txt',
    'http://x/secret.txt',
    '/file:///etc/passwd',
  ])
    expect((await raw(url, { path })).body).not.toContain('TOP SECRET');
  expect((await raw(url, { path: '/assets/app-Abcd1234.js' })).body).toBe('export {}');
});

test('returns only existing collections and passages', async () => {
  const { get, post } = await startAgentServer();
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: anyCharacter, minLength: 1 }), async (name) => {
      fc.pre(name !== 'animals' && name.isWellFormed());
      const encoded = encodeURIComponent(name);
      expect((await get(`/api/sources/x?collection=${encoded}`)).status).toBe(404);
      expect((await post('/api/ask', { question: 'hi', collection: name })).status).toBe(404);
      expect((await get(`/api/sources/${encoded}`)).status).toBeGreaterThanOrEqual(400);
    }),
    { numRuns: 60 },
  );
});

test('sends security headers with every response', async () => {
  const page = new Map([
    ['/', { body: new TextEncoder().encode(HTML), type: 'text/html', etag: '"1"', immutable: false }],
  ]);
  const { url } = await startAgentServer({ page });
  const requests: Raw[] = [
    { path: '/' },
    { path: '/nothing' },
    { path: '/api/sessions' },
    { path: '/api/sessions', headers: { host: 'evil.example' } },
    { path: '/v1/models' },
    { method: 'POST', path: '/api/ask', headers: json, body: question },
    { method: 'POST', path: '/api/ask', headers: json, body: '{' },
  ];
  for (const each of requests) {
    const { headers } = await raw(url, each);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    });
    expect(headers['cache-control']).toBe(each.path === '/' ? 'no-cache' : 'no-store');
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
  expect((await raw(url, { path: '/', headers: { 'if-none-match': '"1"' } })).status).toBe(304);
});

test('refuses bodies that are too large or never end', async () => {
  const { url, post } = await startAgentServer();
  expect((await post('/api/ask', { question: 'x'.repeat(200_000) })).status).toBe(413);
  const endless = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode('x'.repeat(10_000)));
    },
  });
  const refused = fetch(`${url}/api/ask`, {
    method: 'POST',
    headers: json,
    body: endless,
    duplex: 'half',
  } as RequestInit);
  // A client that is still writing may see only the closed connection, not the response.
  await refused.then(
    (response) => expect(response.status).toBe(413),
    (error: Error) => expect(error.message).toBe('fetch failed'),
  );
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test('logs neither tokens nor questions', async () => {
  const logged: unknown[] = [];
  const { post, get } = await startAgentServer({
    onInternalError: (message) => logged.push(message),
    onRequest: (ended) => logged.push(ended),
    token: TOKEN,
  });
  await (await post('/v1/responses', { model: 'citeloop', input: 'my private question' })).text();
  await (await post('/api/ask', { question: 'my private question' })).text();
  await get('/api/sessions?limit=3&secret=query');
  await post('/api/ask', { question: 'x', surprise: 'my private question' });
  expect(logged).toHaveLength(4);
  for (const secret of [TOKEN, 'private question', 'secret=query', 'Bearer'])
    expect(JSON.stringify(logged)).not.toContain(secret);
});
