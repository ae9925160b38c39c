import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createSafeFetch, type SafeFetchOptions } from '../../../src/adapters/web/safe-fetch.ts';
import { parseWebUrl } from '../../../src/adapters/web/web-url.ts';
import { freePort } from '../../support/free-port.ts';
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

test('a page is fetched with the name of the program as user agent', async () => {
  const site = await startSite({ '/': (request, response) => response.end(request.headers['user-agent']) });
  expect(await get(`${site.origin}/`)).toMatchObject({ status: 200, text: 'citeloop/test' });
});

test.each(['127.0.0.1', 'localhost', 'localhost.', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', '0'])(
  'a local server reached as %s is refused without allowPrivate',
  async (host) => {
    const site = await startSite({ '/': 'secret' });
    await expect(get(`http://${host}:${site.port}/`, { allowPrivate: false })).rejects.toMatchObject({
      kind: 'invalid_input',
      hint: expect.stringContaining('allowPrivate'),
    });
    expect(site.requests).toEqual([]);
  },
);

test('a name that resolves to this machine is refused before anything is sent', async () => {
  const site = await startSite({ '/': 'secret' });
  await expect(get(`http://intranet.test:${site.port}/`, guarded)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: 'intranet.test (127.0.0.1) is an address of a private network.',
  });
  expect(site.requests).toEqual([]);
});

test('each connection is checked anew, so a name that changes its address gains nothing', async () => {
  const site = await startSite({
    '/': (_, response) => response.writeHead(302, { location: '/again', connection: 'close' }).end(),
    '/again': 'secret',
  });
  let connections = 0;
  const rebinding: Partial<SafeFetchOptions> = { ...guarded, allowPrivate: () => ++connections === 1 };
  await expect(get(`http://rebind.test:${site.port}/`, rebinding)).rejects.toThrow('private network');
  expect(site.requests).toEqual(['/']);
});

test.each([
  ['a literal address', (port: number) => `http://127.0.0.1:${port}/secret`],
  ['a name', (port: number) => `http://intranet.test:${port}/secret`],
  ['the metadata service', () => 'http://169.254.169.254/latest/meta-data/'],
  ['an odd spelling', (port: number) => `//0x7f.1:${port}/secret`],
])('a redirect from a public host to %s of a private network is refused', async (_, location) => {
  const site = await startSite({ '/secret': 'secret' });
  site.routes['/'] = redirectTo(location(site.port));
  await expect(get(`http://public.test:${site.port}/`, guarded)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining('private network'),
  });
  expect(site.requests).toEqual(['/']);
});

test.each([
  ['file:///etc/passwd', 'is not an http or https URL'],
  ['http://user:secret@public.test/', 'carries a user name or password'],
  ['http://', 'is not a URL'],
])('a redirect to %s is refused', async (location, sentence) => {
  const site = await startSite({ '/': redirectTo(location) });
  await expect(get(`${site.origin}/`)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining(sentence),
  });
});

test('the message about credentials does not repeat them', () => {
  expect(() => parseWebUrl('https://user:secret@example.com/')).toThrow(/^(?!.*secret)/);
});

test('five redirects are followed and a sixth is not', async () => {
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
])('HTTP %i is told as %s', async (status, sentence, recoverable) => {
  const site = await startSite({ '/': { status, body: 'oops' } });
  await expect(get(`${site.origin}/`)).rejects.toMatchObject({
    kind: 'api_error',
    message: expect.stringContaining(sentence),
    recoverable,
  });
  expect(site.requests).toHaveLength(1);
});

test.each([429, 503])('HTTP %i is tried twice more', async (status) => {
  const site = await startSite({ '/': { status, headers: { 'retry-after': '0' } } });
  await expect(get(`${site.origin}/`)).rejects.toMatchObject({ recoverable: true, retryAfter: 0 });
  expect(site.requests).toHaveLength(3);
});

test('a server that asks for a long pause is not asked again, and the pause is passed on', async () => {
  const site = await startSite({ '/': { status: 429, headers: { 'retry-after': '3600' } } });
  await expect(get(`${site.origin}/`)).rejects.toMatchObject({ retryAfter: 3600 });
  expect(site.requests).toHaveLength(1);
});

test('a server that recovers is read', async () => {
  const site = await startSite({
    '/': (_, response) => {
      if (site.requests.length === 1) response.socket?.destroy();
      else if (site.requests.length === 2) response.writeHead(503).end();
      else response.end('there you are');
    },
  });
  expect((await get(`${site.origin}/`)).text).toBe('there you are');
});

test('a connection that is refused is told in plain words', async () => {
  const port = await freePort();
  await expect(get(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
    kind: 'api_error',
    message: `http://127.0.0.1:${port}/ cannot be read: the connection was refused.`,
    recoverable: true,
  });
});

test.each([
  ['ENOTFOUND', 'there is no host of that name', false],
  ['EAI_AGAIN', 'the name server did not answer', true],
])('a name that fails with %s is told in plain words', async (code, sentence, recoverable) => {
  const resolve = () => Promise.reject(Object.assign(new Error(code), { code }));
  await expect(get('http://nowhere.test/', { resolve, retries: 0 })).rejects.toMatchObject({
    kind: 'api_error',
    message: `http://nowhere.test/ cannot be read: ${sentence}.`,
    recoverable,
  });
});

test('a server that does not speak TLS is told in plain words', async () => {
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
    'stopped in the middle',
  ],
])('a server that %s is given up', async (_, handler, sentence) => {
  const site = await startSite({ '/': handler });
  await expect(get(`${site.origin}/`, { idleTimeoutMs: 500 })).rejects.toMatchObject({
    kind: 'api_error',
    message: expect.stringContaining(sentence),
  });
});

test('a page that drips for ever is given up when its time is over', async () => {
  const site = await startSite({
    '/': (_, response) => {
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    },
  });
  await expect(get(`${site.origin}/`, { totalTimeoutMs: 200 })).rejects.toThrow('the answer took too long');
});

test('a page that never ends is cut off at its limit', async () => {
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

test('a page at its limit is read', async () => {
  const site = await startSite({ '/': 'x'.repeat(1000) });
  expect((await get(`${site.origin}/`)).bytes).toHaveLength(1000);
});

test('a page that announces too much is refused without reading it', async () => {
  const site = await startSite({
    '/': (_, response) => response.writeHead(200, { 'content-length': '99999999999' }).write('x'),
  });
  await expect(get(`${site.origin}/`)).rejects.toThrow('is too large');
});

test('a page that ends before its announced length is not taken for whole', async () => {
  const site = await startSite({
    '/': (_, response) => {
      response.writeHead(200, { 'content-length': '500' }).write('x', () => response.socket?.end());
    },
  });
  await expect(get(`${site.origin}/`)).rejects.toThrow('the connection was closed too early');
  expect(site.requests).toHaveLength(3);
});

test('the limit counts what comes out of decompression', async () => {
  const headers = { 'content-encoding': 'gzip' };
  const site = await startSite({
    '/bomb': { headers, body: gzipSync('x'.repeat(5_000_000)) },
    '/page': { headers, body: gzipSync('hello') },
    '/damaged': { headers, body: 'this is no gzip' },
  });
  await expect(get(`${site.origin}/bomb`, {}, { maxBytes: 100_000 })).rejects.toThrow('is too large');
  expect((await get(`${site.origin}/page`)).text).toBe('hello');
  await expect(get(`${site.origin}/damaged`)).rejects.toThrow('its compressed content is damaged');
});

test('an aborted signal ends a request at once, with its own reason', async () => {
  const site = await startSite({ '/': () => controller.abort(new Error('Ctrl-C')) });
  const controller = new AbortController();
  await expect(get(`${site.origin}/`, {}, { signal: controller.signal })).rejects.toThrow('Ctrl-C');
  await expect(get(`${site.origin}/`, {}, { signal: controller.signal })).rejects.toThrow('Ctrl-C');
});

test('an aborted signal ends the pause before a retry', async () => {
  const site = await startSite({ '/': { status: 503, headers: { 'retry-after': '20' } } });
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('Ctrl-C')), 50);
  await expect(get(`${site.origin}/`, {}, { signal: controller.signal })).rejects.toThrow('Ctrl-C');
});
