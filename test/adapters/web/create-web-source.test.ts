import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createWebSource, type WebSourceOptions } from '../../../src/adapters/web/web-source.ts';
import { formatPlainAdvice } from '../../../src/faults/advice.ts';
import type { DocumentSource, SourceEntry } from '../../../src/ports/document-source.ts';
import { pageWith, redirectTo, type Site, startSite } from './start-site.ts';

interface Crawled {
  source: DocumentSource;
  entries: SourceEntry[];
  paths: string[];
  notices: string[];
}

async function crawl(url: string, options: WebSourceOptions = {}, signal?: AbortSignal): Promise<Crawled> {
  const notices: string[] = [];
  const source = createWebSource(url, {
    allowPrivate: true,
    retryDelayMs: 1,
    onNotice: (notice) => notices.push(formatPlainAdvice(notice)),
    ...options,
  });
  const entries: SourceEntry[] = [];
  for await (const entry of source.entries(signal)) entries.push(entry);
  return { source, entries, paths: entries.map((entry) => entry.relativePath), notices };
}

const text = (body: string, type = 'text/plain') => ({ headers: { 'content-type': type }, body });
const urlset = (site: Site, ...paths: string[]) => ({
  headers: { 'content-type': 'application/xml' },
  body: `<urlset>${paths.map((path) => `<url><loc>${site.origin}${path}</loc></url>`).join('')}</urlset>`,
});

test('crawls breadth-first below the directory of the start', async () => {
  const site = await startSite({
    '/docs/': pageWith('a', 'b', '/blog', '../about', 'https://elsewhere.test/'),
    '/docs/a': pageWith('deep/c', 'b', './'),
    '/docs/b': pageWith('deep/'),
    '/docs/deep/c': pageWith(),
    '/docs/deep/': pageWith(),
  });
  const { paths, entries, notices } = await crawl(`${site.origin}/docs/`);
  expect(paths).toEqual(['index.html', 'a', 'b', 'deep/c', 'deep/index.html']);
  expect(entries.map((entry) => entry.root)).toEqual(Array(5).fill(`${site.origin}/docs/`));
  expect(await entries[1]?.read()).toEqual({
    uri: `${site.origin}/docs/a`,
    mediaType: 'html',
    bytes: new TextEncoder().encode(pageWith('deep/c', 'b', './')),
  });
  expect(notices).toEqual([]);
  expect(site.requests).toHaveLength(6);
});

test('the order does not depend on response times', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const site = await startSite({ '/': pageWith(...names) });
  for (const [position, name] of names.entries()) {
    site.routes[`/${name}`] = (_, response) => {
      response.setHeader('content-type', 'text/html');
      setTimeout(() => response.end(pageWith(`${name}/below`)), (6 - position) * 8);
    };
    site.routes[`/${name}/below`] = pageWith();
  }
  const { paths } = await crawl(`${site.origin}/`);
  expect(paths).toEqual(['index.html', ...names, ...names.map((name) => `${name}/below`)]);
});

test('respects the concurrency limit', async () => {
  const waiting: ServerResponse[] = [];
  let most = 0;
  const names = Array.from({ length: 12 }, (_, n) => `p${n}`);
  const site = await startSite({ '/': pageWith(...names) });
  for (const name of names) {
    site.routes[`/${name}`] = (_, response) => {
      most = Math.max(most, waiting.push(response));
      // All that are allowed have come; one more would come while these are answered.
      if (waiting.length < 3) return;
      setTimeout(() => {
        for (const each of waiting.splice(0)) each.setHeader('content-type', 'text/html').end('x');
      }, 10);
    };
  }
  await crawl(`${site.origin}/`, { concurrency: 3 });
  expect(most).toBe(3);
});

test('a start such as /docs covers the pages below it', async () => {
  const site = await startSite({
    '/docs': pageWith('/docs/a', '/blog'),
    '/docs/a': pageWith('/docs'),
    '/blog': pageWith(),
  });
  const { paths, entries } = await crawl(`${site.origin}/docs`);
  expect(paths).toEqual(['index.html', 'a']);
  expect(entries[0]).toMatchObject({ uri: `${site.origin}/docs`, root: `${site.origin}/docs/` });
});

test('without follow only the page itself is read', async () => {
  const site = await startSite({ '/docs/a': pageWith('b'), '/docs/b': pageWith() });
  const { entries, source } = await crawl(`${site.origin}/docs/a`, { follow: false });
  expect(entries).toMatchObject([{ root: `${site.origin}/docs/a`, relativePath: 'a' }]);
  expect(source.covers({ uri: `${site.origin}/docs/b`, root: `${site.origin}/docs/` })).toBe(false);
});

test.each([
  ['/book.pdf', 'application/pdf', 'pdf'],
  ['/book.pdf', 'application/octet-stream', 'pdf'],
  ['/notes.md', 'text/plain; charset=utf-8', 'markdown'],
  ['/notes.rst', 'text/plain', 'rst'],
  ['/notes', 'text/plain', 'text'],
  ['/notes.md', 'text/html', 'html'],
])('%s served as %s has the media type %s', async (path, type, mediaType) => {
  const site = await startSite({ [path]: text('x', type) });
  const { entries } = await crawl(`${site.origin}${path}`);
  expect(entries).toHaveLength(1);
  expect(await entries[0]?.read()).toMatchObject({ mediaType });
  expect(entries[0]?.relativePath).toBe(path.slice(1));
});

test('converts the charset of the header to UTF-8', async () => {
  const site = await startSite({
    '/': {
      headers: { 'content-type': 'text/html; charset="iso-8859-1"' },
      body: Buffer.from('d\xe9j\xe0', 'latin1'),
    },
  });
  const { entries } = await crawl(`${site.origin}/`);
  expect(Buffer.from((await entries[0]?.read())?.bytes ?? []).toString()).toBe('\ufeffdéjà');
});

test('reads linked documents and counts unsupported types', async () => {
  const site = await startSite({
    '/': pageWith('book.pdf', 'data', 'video', 'logo.png', 'archive.zip'),
    '/book.pdf': text('%PDF', 'application/pdf'),
    '/data': text('x', 'application/x-unknown'),
    '/video': (_, response) =>
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': '999999999' }).write('x'),
  });
  const { paths, notices } = await crawl(`${site.origin}/`);
  expect(paths).toEqual(['index.html', 'book.pdf']);
  expect(notices).toEqual(['skipped 2 of unsupported types']);
  expect(site.requests).not.toContain('/logo.png');
});

test('lists pages with the same redirect or canonical URL once', async () => {
  const site = await startSite({
    '/': pageWith('old', 'new', 'index.html', 'print?x=1', 'print'),
    '/old': redirectTo('/new'),
    '/new': pageWith(),
    '/print?x=1': '<link rel="canonical" href="/print">',
    '/print': '<link rel="canonical" href="/print">',
  });
  const { entries } = await crawl(`${site.origin}/`);
  expect(entries.map((entry) => entry.uri.slice(site.origin.length))).toEqual(['/', '/new', '/print?x=1']);
});

test('ignores the home page as canonical URL of every page', async () => {
  const home = '<link rel="canonical" href="/">';
  const site = await startSite({ '/': home + pageWith('a', 'b'), '/a': home, '/b': home });
  expect((await crawl(`${site.origin}/`)).paths).toEqual(['index.html', 'a', 'b']);
});

test('the root is that of the start after redirects', async () => {
  const site = await startSite({
    '/': redirectTo('/en/latest/'),
    '/en/latest/': pageWith('a', '/de/latest/'),
    '/en/latest/a': pageWith(),
  });
  const { entries, paths } = await crawl(`${site.origin}/`);
  expect(paths).toEqual(['index.html', 'a']);
  expect(entries[0]?.root).toBe(`${site.origin}/en/latest/`);
});

test('skips a page that redirects off the site', async () => {
  const site = await startSite({
    '/docs/': pageWith('login'),
    '/docs/login': redirectTo('/account'),
    '/account': 'x',
  });
  const { paths, notices } = await crawl(`${site.origin}/docs/`);
  expect(paths).toEqual(['index.html']);
  expect(notices).toEqual(['skipped 1 redirected off the site']);
});

test('lists a failed page, and reading it throws the error', async () => {
  const site = await startSite({ '/': pageWith('gone', 'fine'), '/fine': pageWith() });
  const { paths, entries } = await crawl(`${site.origin}/`);
  expect(paths).toEqual(['index.html', 'gone', 'fine']);
  await expect(entries[1]?.read()).rejects.toMatchObject({
    kind: 'api_error',
    message: `${site.origin}/gone returned HTTP 404, not found.`,
  });
});

test('a page above the size limit fails alone', async () => {
  const site = await startSite({ '/': pageWith('big'), '/big': 'x'.repeat(5000) });
  const { entries } = await crawl(`${site.origin}/`, { maxBytes: 1000 });
  await expect(entries[1]?.read()).rejects.toThrow('is too large: the limit is 1000 bytes');
});

test.each([
  ['answers with HTTP 404', { status: 404 }, { kind: 'api_error' }],
  [
    'is of an unsupported type',
    text('PK', 'application/zip'),
    { kind: 'invalid_input', message: /application\/zip/ },
  ],
  ['redirects for ever', redirectTo('/start'), { kind: 'api_error' }],
])('throws for a start that %s', async (_, answer, expected) => {
  const site = await startSite({ '/start': answer });
  const error = await crawl(`${site.origin}/start`).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ kind: expected.kind });
  if ('message' in expected)
    expect(error).toMatchObject({ message: expect.stringMatching(expected.message) });
});

test('rejects a private start unless it is allowed', async () => {
  const site = await startSite({ '/': 'secret' });
  await expect(crawl(`${site.origin}/`, { allowPrivate: false })).rejects.toMatchObject({
    kind: 'invalid_input',
    hint: expect.stringContaining('allowPrivate'),
  });
  expect(site.requests).toEqual([]);
});

test.each(['ftp://docs.test/', 'https://user:secret@docs.test/', 'https://'])('rejects %s at once', (url) => {
  expect(() => createWebSource(url)).toThrow(expect.objectContaining({ kind: 'invalid_input' }));
});

test('skips pages that robots.txt disallows, and rejects a disallowed start', async () => {
  const site = await startSite({
    '/robots.txt': text('User-agent: citeloop\nDisallow: /private'),
    '/': pageWith('private/x', 'open', 'hop'),
    '/open': pageWith(),
    '/hop': redirectTo('/private/y'),
  });
  const { paths, notices } = await crawl(`${site.origin}/`);
  expect(paths).toEqual(['index.html', 'open']);
  expect(notices).toEqual(['skipped 2 disallowed by robots.txt']);
  expect(site.requests.filter((path) => path.startsWith('/private'))).toEqual([]);
  await expect(crawl(`${site.origin}/private/x`)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining('robots.txt'),
  });
});

test('rejects a site whose robots.txt fails, with the reason', async () => {
  const site = await startSite({ '/robots.txt': { status: 500 }, '/': pageWith() });
  await expect(crawl(`${site.origin}/`)).rejects.toMatchObject({
    kind: 'api_error',
    message: `${site.origin}/robots.txt returned HTTP 500, server error.`,
    recoverable: true,
  });
  expect(site.requests).toEqual(['/robots.txt']);
});

test('respects the crawl delay of a site', async () => {
  const page = pageWith('a', 'b');
  const site = await startSite({
    '/robots.txt': text('User-agent: *\nCrawl-delay: 0.2'),
    '/': page,
    '/a': page,
    '/b': page,
  });
  const started = performance.now();
  expect((await crawl(`${site.origin}/`)).entries).toHaveLength(3);
  // Twice between three pages; a busy machine only makes it longer.
  expect(performance.now() - started).toBeGreaterThan(395);
});

test('does not list noindex pages but follows their links, and obeys nofollow', async () => {
  const site = await startSite({
    '/': `<meta name="robots" content="noindex">${pageWith('a', 'b')}`,
    '/a': `<meta name="robots" content="nofollow">${pageWith('hidden')}`,
    '/b': `<a rel="nofollow" href="hidden">x</a>`,
    '/hidden': pageWith(),
  });
  const { paths, notices } = await crawl(`${site.origin}/`);
  expect(paths).toEqual(['a', 'b']);
  expect(notices).toEqual(['skipped 1 marked noindex']);
});

test('stops at the page limit with a notice', async () => {
  const site = await startSite({ '/': pageWith('1') });
  for (let n = 1; n < 50; n += 1) site.routes[`/${n}`] = pageWith(`${n + 1}`, `${n + 2}`);
  const { paths, notices } = await crawl(`${site.origin}/`, { maxPages: 4, maxDepth: 100 });
  expect(paths).toEqual(['index.html', '1', '2', '3']);
  expect(notices).toEqual(['stopped at 4 pages; raise the limit with maxPages']);
  expect(site.requests).toHaveLength(5);
});

test('stops at the depth limit with a notice', async () => {
  const site = await startSite({
    '/': pageWith('1'),
    '/1': pageWith('2'),
    '/2': pageWith('3'),
    '/3': pageWith(),
  });
  const { paths, notices } = await crawl(`${site.origin}/`, { maxDepth: 2 });
  expect(paths).toEqual(['index.html', '1', '2']);
  expect(notices).toEqual(['skipped links deeper than 2; raise the limit with maxDepth']);
});

test('stops at the time limit and keeps the pages so far', async () => {
  const site = await startSite({ '/': pageWith('a', 'never'), '/a': pageWith(), '/never': () => {} });
  const { paths, notices } = await crawl(`${site.origin}/`, { maxSeconds: 2 });
  expect(paths).toEqual(['index.html', 'a']);
  expect(notices).toEqual(['stopped at the time limit; raise it with maxSeconds']);
});

test('adds up the time of single pages', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const site = await startSite({ '/': pageWith(...names) });
  for (const name of names) {
    site.routes[`/${name}`] = (_, response) => {
      setTimeout(() => response.setHeader('content-type', 'text/html').end('x'), 100);
    };
  }
  const { notices } = await crawl(`${site.origin}/`, { maxSeconds: 0.35, concurrency: 1 });
  expect(notices).toEqual(['stopped at the time limit; raise it with maxSeconds']);
});

test('throws if the start takes all the time', async () => {
  const site = await startSite({ '/': () => {} });
  await expect(crawl(`${site.origin}/`, { maxSeconds: 0.1 })).rejects.toMatchObject({
    kind: 'api_error',
    message: 'The site did not answer in full within 0.1 seconds.',
  });
});

test('an aborted signal stops the crawl with its reason', async () => {
  const controller = new AbortController();
  const site = await startSite({ '/': pageWith('a'), '/a': () => controller.abort(new Error('Ctrl-C')) });
  await expect(crawl(`${site.origin}/`, {}, controller.signal)).rejects.toThrow('Ctrl-C');
});

test('a consumer that stops early stops the crawl', async () => {
  const site = await startSite({ '/': pageWith('a', 'b', 'c') });
  for await (const _ of createWebSource(`${site.origin}/`, { allowPrivate: true }).entries()) break;
  expect(site.requests).toEqual(['/robots.txt', '/']);
});

test('sends no requests after the consumer stopped', async () => {
  const site = await startSite({
    '/robots.txt': text('User-agent: *\nCrawl-delay: 0.05'),
    '/': pageWith('a', 'b', 'c', 'd'),
    '/a': pageWith(),
  });
  for await (const entry of createWebSource(`${site.origin}/`, { allowPrivate: true }).entries()) {
    if (entry.relativePath === 'a') break;
  }
  const asked = site.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(site.requests).toHaveLength(asked);
});

test('reads the pages of a sitemap in order without following links', async () => {
  const site = await startSite({ '/docs/b': pageWith('c'), '/docs/a': pageWith(), '/docs/c': pageWith() });
  site.routes['/docs/sitemap.xml'] = urlset(site, '/docs/b', '/docs/a');
  const { paths, entries } = await crawl(`${site.origin}/docs/sitemap.xml`);
  expect(paths).toEqual(['b', 'a']);
  expect(entries[0]?.root).toBe(`${site.origin}/docs/`);
});

test('the root is the whole site if a sitemap lists pages elsewhere', async () => {
  const site = await startSite({ '/docs/a': pageWith() });
  site.routes['/maps/all.xml'] = urlset(site, '/docs/a');
  const { entries } = await crawl(`${site.origin}/maps/all.xml`);
  expect(entries).toMatchObject([{ root: `${site.origin}/`, relativePath: 'docs/a' }]);
});

test('reads a sitemap index with a gzipped sitemap', async () => {
  const site = await startSite({ '/a': pageWith(), '/b': pageWith() });
  site.routes['/sitemap.xml'] = text(
    `<sitemapindex><sitemap><loc>${site.origin}/1.xml.gz</loc></sitemap><sitemap><loc>${site.origin}/gone.xml</loc></sitemap></sitemapindex>`,
    'text/xml',
  );
  site.routes['/1.xml.gz'] = {
    headers: { 'content-type': 'application/gzip' },
    body: gzipSync(urlset(site, '/a', '/b').body),
  };
  const { paths, notices, source } = await crawl(`${site.origin}/sitemap.xml`);
  expect(paths).toEqual(['a', 'b']);
  expect(notices).toEqual([expect.stringContaining('skipped the sitemap')]);
  expect(source.covers({ uri: `${site.origin}/old`, root: `${site.origin}/` })).toBe(false);
});

test('recognizes a sitemap by its content and applies the limits', async () => {
  const site = await startSite({ '/1': pageWith(), '/2': pageWith(), '/3': pageWith() });
  site.routes['/map'] = urlset(site, '/1', '/2', '/3');
  const { paths, notices } = await crawl(`${site.origin}/map`, { maxPages: 2 });
  expect(paths).toEqual(['1', '2']);
  expect(notices).toEqual(['stopped at 2 pages; raise the limit with maxPages']);
});

test.each([
  ['is malformed', '<urlset><url>', 'cannot be used as a sitemap'],
  [
    'lists no page of its own',
    '<urlset><url><loc>https://elsewhere.test/</loc></url></urlset>',
    'lists no page',
  ],
])('rejects a sitemap that %s', async (_, body, sentence) => {
  const site = await startSite({ '/sitemap.xml': text(body, 'application/xml') });
  await expect(crawl(`${site.origin}/sitemap.xml`)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining(sentence),
  });
});

test('a complete crawl covers earlier pages under the same root', async () => {
  const site = await startSite({ '/docs/': pageWith('a', 'dead'), '/docs/a': pageWith() });
  const { source } = await crawl(`${site.origin}/docs/`);
  const root = `${site.origin}/docs/`;
  expect(source.covers({ uri: `${root}old`, root })).toBe(true);
  expect(source.covers({ uri: `${root}old`, root: `${root}old` })).toBe(false);
  expect(source.covers({ uri: `${site.origin}/blog`, root: `${site.origin}/` })).toBe(false);
  expect(source.covers({ uri: 'file:///docs/old.md', root: 'file:///docs/' })).toBe(false);
  expect(createWebSource(root, { allowPrivate: true }).covers({ uri: `${root}old`, root })).toBe(false);
});

test.each([
  ['stopped at a bound', { maxPages: 1 }, pageWith()],
  ['met a page that failed for the moment', {}, { status: 500 }],
])('a crawl that %s covers nothing', async (_, options, answer) => {
  const site = await startSite({ '/': pageWith('a'), '/a': answer });
  const { source } = await crawl(`${site.origin}/`, options);
  expect(source.covers({ uri: `${site.origin}/old`, root: `${site.origin}/` })).toBe(false);
});
