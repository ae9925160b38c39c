import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createSafeFetch, type SafeFetchOptions } from '../../../src/adapters/web/safe-fetch.ts';
import { parseWebUrl } from '../../../src/adapters/web/web-url.ts';
import { findFreePort } from '../../support/free-port.ts';
import { redirectTo, startSite } from './start-site.ts';

/** One GET on a client of its own, with all the patience that a busy machine may need. */
async function get(
  url: string,
  options: Partial<SafeFetchOptions> = {},
  request: { maxBytes?: number; signal?: AbortSignal } = {},
) {
  const web = createSafeFetch({
    userAgent: 'citeloop/test',
    allowPrivate: true,
    connectTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    totalTimeoutMs: 60_000,
    retryDelayMs: 1,
    ...options,
  });
  onTestFinished(() => web.close());
  const resource = await web.fetch(parseWebUrl(url), { maxBytes: 1000, ...request });
  return { ...resource, text: new TextDecoder().decode(resource.bytes ?? undefined) };
}

/** Names for one local server: `public.test` may be reached, all others count as private. */
const guarded: Partial<SafeFetchOptions> = {
  allowPrivate: (hostname) => hostname === 'public.test',
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
};

test('sends the user agent', async () => {
  const site = await startSite({ '/': (request, response) => response.end(request.headers['user-agent']) });
  expect(await get(`${site.origin}/`)).toMatchObject({ status: 200, text: 'citeloop/test' });
});

test.each(['127.0.0.1', 'localhost', 'localhost.', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', '0'])(
  'rejects a local server at %s without allowPrivate',
  async (host) => {
    const site = await startSite({ '/': 'secret' });
    await expect(get(`http://${host}:${site.port}/`, { allowPrivate: false })).rejects.toMatchObject({
      kind: 'invalid_input',
      hint: expect.stringContaining('allowPrivate'),
    });
    expect(site.requests).toEqual([]);
  },
);

test('rejects a name that resolves to this machine without a request', async () => {
  const site = await startSite({ '/': 'secret' });
  await expect(get(`http://intranet.test:${site.port}/`, guarded)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: 'intranet.test (127.0.0.1) is a private address.',
  });
  expect(site.requests).toEqual([]);
});

test('checks each connection, also if a name changes its address', async () => {
  const site = await startSite({
    '/': (_, response) => response.writeHead(302, { location: '/again', connection: 'close' }).end(),
    '/again': 'secret',
  });
  let connections = 0;
  const rebinding: Partial<SafeFetchOptions> = { ...guarded, allowPrivate: () => ++connections === 1 };
  await expect(get(`http://rebind.test:${site.port}/`, rebinding)).rejects.toThrow('private address');
  expect(site.requests).toEqual(['/']);
});

test.each([
  ['a literal address', (port: number) => `http://127.0.0.1:${port}/secret`],
  ['a name', (port: number) => `http://intranet.test:${port}/secret`],
  ['the metadata service', () => 'http://169.254.169.254/latest/meta-data/'],
  ['an odd spelling', (port: number) => `//0x7f.1:${port}/secret`],
])('rejects a redirect from a public host to %s of a private network', async (_, location) => {
  const site = await startSite({ '/secret': 'secret' });
  site.routes['/'] = redirectTo(location(site.port));
  await expect(get(`http://public.test:${site.port}/`, guarded)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining('private address'),
  });
  expect(site.requests).toEqual(['/']);
});

test.each([
  ['file:///etc/passwd', 'is not an http or https URL'],
  ['http://user:secret@public.test/', 'contains a user name or password'],
  ['http://', 'is not a URL'],
])('rejects a redirect to %s', async (location, sentence) => {
  const site = await startSite({ '/': redirectTo(location) });
  await expect(get(`${site.origin}/`)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining(sentence),
  });
});

test('the error about credentials does not contain them', () => {
  expect(() => parseWebUrl('https://user:secret@example.com/')).toThrow(/^(?!.*secret)/);
});

test('follows five redirects but not a sixth', async () => {
  const site = await startSite({ '/0': 'the end' });
  for (let step = 1; step <= 6; step += 1) site.routes[`/${step}`] = redirectTo(`/${step - 1}`, 308);
  const { url, text } = await get(`${site.origin}/5`);
  expect([url.pathname, text]).toEqual(['/0', 'the end']);
  await expect(get(`${site.origin}/6`)).rejects.toThrow('redirects more than 5 times');
});

test.each([
  [404, 'not found', false],
  [403, 'access denied', false],
  [500, 'server error', true],
  [418, 'HTTP 418', false],
])('reports HTTP %i as %s', async (status, sentence, recoverable) => {
  const site = await startSite({ '/': { status, body: 'oops' } });
  await expect(get(`${site.origin}/`)).rejects.toMatchObject({
    kind: 'api_error',
    message: expect.stringContaining(sentence),
    recoverable,
  });
  expect(site.requests).toHaveLength(1);
});

test.each([429, 503])('retries HTTP %i twice', async (status) => {
  const site = await startSite({ '/': { status, headers: { 'retry-after': '0' } } });
  await expect(get(`${site.origin}/`)).rejects.toMatchObject({ recoverable: true, retryAfter: 0 });
  expect(site.requests).toHaveLength(3);
});

test('does not retry after a long Retry-After, and reports it', async () => {
  const site = await startSite({ '/': { status: 429, headers: { 'retry-after': '3600' } } });
  await expect(get(`${site.origin}/`)).rejects.toMatchObject({ retryAfter: 3600 });
  expect(site.requests).toHaveLength(1);
});

test('reads from a server that recovers', async () => {
  const site = await startSite({
    '/': (_, response) => {
      if (site.requests.length === 1) response.socket?.destroy();
      else if (site.requests.length === 2) response.writeHead(503).end();
      else response.end('there you are');
    },
  });
  expect((await get(`${site.origin}/`)).text).toBe('there you are');
});

test('reports a refused connection', async () => {
  const port = await findFreePort();
  await expect(get(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
    kind: 'api_error',
    message: `http://127.0.0.1:${port}/ cannot be read: the server refused the connection.`,
    recoverable: true,
  });
});

test.each([
  ['ENOTFOUND', 'the server cannot be found: there is no host of that name', false],
  ['EAI_AGAIN', 'the server cannot be found: the name server did not answer', true],
])('reports a name that fails with %s', async (code, sentence, recoverable) => {
  const resolve = () => Promise.reject(Object.assign(new Error(code), { code }));
  await expect(get('http://nowhere.test/', { resolve, retries: 0 })).rejects.toMatchObject({
    kind: 'api_error',
    message: `http://nowhere.test/ cannot be read: ${sentence}.`,
    recoverable,
  });
});

test('reports a server without TLS', async () => {
  const site = await startSite({ '/': 'plain' });
  await expect(get(`https://127.0.0.1:${site.port}/`)).rejects.toMatchObject({
    kind: 'api_error',
    message: expect.stringContaining('TLS'),
  });
});

test.each([
  ['sends no headers', () => {}, 'took too long to answer'],
  [
    'stops in the middle of its body',
    (_: unknown, response: { write(text: string): void }) => response.write('x'),
    'took too long to answer',
  ],
])('stops waiting for a server that %s', async (_, handler, sentence) => {
  const site = await startSite({ '/': handler });
  await expect(get(`${site.origin}/`, { idleTimeoutMs: 500 })).rejects.toMatchObject({
    kind: 'api_error',
    message: expect.stringContaining(sentence),
  });
});

test('stops a slow page at the time limit', async () => {
  const site = await startSite({
    '/': (_, response) => {
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    },
  });
  await expect(get(`${site.origin}/`, { totalTimeoutMs: 200 })).rejects.toThrow('took too long to answer');
});

test('stops an endless page at the size limit', async () => {
  let isClosed = false;
  const site = await startSite({
    '/': (_, response) => {
      const fill = () => {
        while (!response.destroyed && response.write('x'.repeat(1000)));
      };
      response.on('drain', fill).on('close', () => {
        isClosed = true;
      });
      fill();
    },
  });
  await expect(get(`${site.origin}/`)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: `${site.origin}/ is too large: the limit is 1000 bytes.`,
  });
  await expect.poll(() => isClosed).toBe(true);
});

test('reads a page at the size limit', async () => {
  const site = await startSite({ '/': 'x'.repeat(1000) });
  expect((await get(`${site.origin}/`)).bytes).toHaveLength(1000);
});

test('rejects a page by its Content-Length', async () => {
  const site = await startSite({
    '/': (_, response) => response.writeHead(200, { 'content-length': '99999999999' }).write('x'),
  });
  await expect(get(`${site.origin}/`)).rejects.toThrow('is too large');
});

test('rejects a page that ends before its Content-Length', async () => {
  const site = await startSite({
    '/': (_, response) => {
      response.writeHead(200, { 'content-length': '500' }).write('x', () => response.socket?.end());
    },
  });
  await expect(get(`${site.origin}/`)).rejects.toThrow('closed the connection too early');
  expect(site.requests).toHaveLength(3);
});

test('limits the decompressed size', async () => {
  const headers = { 'content-encoding': 'gzip' };
  const site = await startSite({
    '/bomb': { headers, body: gzipSync('x'.repeat(5_000_000)) },
    '/page': { headers, body: gzipSync('hello') },
    '/damaged': { headers, body: 'this is no gzip' },
  });
  await expect(get(`${site.origin}/bomb`, {}, { maxBytes: 100_000 })).rejects.toThrow('is too large');
  expect((await get(`${site.origin}/page`)).text).toBe('hello');
  await expect(get(`${site.origin}/damaged`)).rejects.toThrow('compressed content that is damaged');
});

test('an aborted signal stops a request with its reason', async () => {
  const site = await startSite({ '/': () => controller.abort(new Error('Ctrl-C')) });
  const controller = new AbortController();
  await expect(get(`${site.origin}/`, {}, { signal: controller.signal })).rejects.toThrow('Ctrl-C');
  await expect(get(`${site.origin}/`, {}, { signal: controller.signal })).rejects.toThrow('Ctrl-C');
});

test('an aborted signal stops the wait before a retry', async () => {
  const site = await startSite({ '/': { status: 503, headers: { 'retry-after': '20' } } });
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('Ctrl-C')), 50);
  await expect(get(`${site.origin}/`, {}, { signal: controller.signal })).rejects.toThrow('Ctrl-C');
});
