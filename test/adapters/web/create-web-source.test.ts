import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createWebSource, type WebSourceOptions } from '../../../src/adapters/web/web-source.ts';
import { plainly } from '../../../src/faults/advice.ts';
import type { DocumentSource, SourceEntry } from '../../../src/ports/loader.ts';
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
    onNotice: (notice) => notices.push(plainly(notice)),
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

test('a site is read breadth-first below the directory of its start', async () => {
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

test('the order does not depend on how fast the pages answer', async () => {
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

test('no more pages are asked for at a time than allowed', async () => {
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

test('a start such as /docs stands for what lies below it', async () => {
  const site = await startSite({
    '/docs': pageWith('/docs/a', '/blog'),
    '/docs/a': pageWith('/docs'),
    '/blog': pageWith(),
  });
  const { paths, entries } = await crawl(`${site.origin}/docs`);
  expect(paths).toEqual(['index.html', 'a']);
  expect(entries[0]).toMatchObject({ uri: `${site.origin}/docs`, root: `${site.origin}/docs/` });
});

test('with follow off only the page itself is read, and it is its own root', async () => {
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
])('%s served as %s is read as %s', async (path, type, mediaType) => {
  const site = await startSite({ [path]: text('x', type) });
  const { entries } = await crawl(`${site.origin}${path}`);
  expect(entries).toHaveLength(1);
  expect(await entries[0]?.read()).toMatchObject({ mediaType });
  expect(entries[0]?.relativePath).toBe(path.slice(1));
});

test('an encoding that only the header names is turned into UTF-8', async () => {
  const site = await startSite({
    '/': {
      headers: { 'content-type': 'text/html; charset="iso-8859-1"' },
      body: Buffer.from('d\xe9j\xe0', 'latin1'),
    },
  });
  const { entries } = await crawl(`${site.origin}/`);
  expect(Buffer.from((await entries[0]?.read())?.bytes ?? []).toString()).toBe('\ufeffdéjà');
});

test('a linked document of another format is read, and other types are counted', async () => {
  const site = await startSite({
    '/': pageWith('book.pdf', 'data', 'video', 'logo.png', 'archive.zip'),
    '/book.pdf': text('%PDF', 'application/pdf'),
    '/data': text('{}', 'application/json'),
    '/video': (_, response) =>
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': '999999999' }).write('x'),
  });
  const { paths, notices } = await crawl(`${site.origin}/`);
  expect(paths).toEqual(['index.html', 'book.pdf']);
  expect(notices).toEqual(['left out 2 of another type']);
  expect(site.requests).not.toContain('/logo.png');
});

test('pages that redirect or name the same canonical address are listed once', async () => {
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

test('a site that gives its home page as the canonical address of every page keeps its pages', async () => {
  const home = '<link rel="canonical" href="/">';
  const site = await startSite({ '/': home + pageWith('a', 'b'), '/a': home, '/b': home });
  expect((await crawl(`${site.origin}/`)).paths).toEqual(['index.html', 'a', 'b']);
});

test('a start that redirects makes the new place the root', async () => {
  const site = await startSite({
    '/': redirectTo('/en/latest/'),
    '/en/latest/': pageWith('a', '/de/latest/'),
    '/en/latest/a': pageWith(),
  });
  const { entries, paths } = await crawl(`${site.origin}/`);
  expect(paths).toEqual(['index.html', 'a']);
  expect(entries[0]?.root).toBe(`${site.origin}/en/latest/`);
});

test('a page that redirects off the site is left out', async () => {
  const site = await startSite({
    '/docs/': pageWith('login'),
    '/docs/login': redirectTo('/account'),
    '/account': 'x',
  });
  const { paths, notices } = await crawl(`${site.origin}/docs/`);
  expect(paths).toEqual(['index.html']);
  expect(notices).toEqual(['left out 1 redirected off the site']);
});

test('a page that fails is listed, and its read throws what went wrong', async () => {
  const site = await startSite({ '/': pageWith('gone', 'fine'), '/fine': pageWith() });
  const { paths, entries } = await crawl(`${site.origin}/`);
  expect(paths).toEqual(['index.html', 'gone', 'fine']);
  await expect(entries[1]?.read()).rejects.toMatchObject({
    kind: 'api_error',
    message: `${site.origin}/gone answered with HTTP 404, not found.`,
  });
});

test('a page above the limit fails alone', async () => {
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
])('a start that %s is thrown by the listing', async (_, answer, expected) => {
  const site = await startSite({ '/start': answer });
  const error = await crawl(`${site.origin}/start`).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ kind: expected.kind });
  if ('message' in expected)
    expect(error).toMatchObject({ message: expect.stringMatching(expected.message) });
});

test('a private start is refused unless that is allowed', async () => {
  const site = await startSite({ '/': 'secret' });
  await expect(crawl(`${site.origin}/`, { allowPrivate: false })).rejects.toMatchObject({
    kind: 'invalid_input',
    hint: expect.stringContaining('allowPrivate'),
  });
  expect(site.requests).toEqual([]);
});

test.each(['ftp://docs.test/', 'https://user:secret@docs.test/', 'https://'])(
  '%s is refused at once',
  (url) => {
    expect(() => createWebSource(url)).toThrow(expect.objectContaining({ kind: 'invalid_input' }));
  },
);

test('what robots.txt bars is left out, and a barred start is refused', async () => {
  const site = await startSite({
    '/robots.txt': text('User-agent: citeloop\nDisallow: /private'),
    '/': pageWith('private/x', 'open', 'hop'),
    '/open': pageWith(),
    '/hop': redirectTo('/private/y'),
  });
  const { paths, notices } = await crawl(`${site.origin}/`);
  expect(paths).toEqual(['index.html', 'open']);
  expect(notices).toEqual(['left out 2 barred by robots.txt']);
  expect(site.requests.filter((path) => path.startsWith('/private'))).toEqual([]);
  await expect(crawl(`${site.origin}/private/x`)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining('robots.txt'),
  });
});

test('a site whose robots.txt is out of order is not read, and the reason is told', async () => {
  const site = await startSite({ '/robots.txt': { status: 500 }, '/': pageWith() });
  await expect(crawl(`${site.origin}/`)).rejects.toMatchObject({
    kind: 'api_error',
    message: `${site.origin}/robots.txt answered with HTTP 500, server error.`,
    recoverable: true,
  });
  expect(site.requests).toEqual(['/robots.txt']);
});

test('the crawl delay that a site asks for is kept between requests', async () => {
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

test('a page marked noindex is not listed but its links are followed, and nofollow ends there', async () => {
  const site = await startSite({
    '/': `<meta name="robots" content="noindex">${pageWith('a', 'b')}`,
    '/a': `<meta name="robots" content="nofollow">${pageWith('hidden')}`,
    '/b': `<a rel="nofollow" href="hidden">x</a>`,
    '/hidden': pageWith(),
  });
  const { paths, notices } = await crawl(`${site.origin}/`);
  expect(paths).toEqual(['a', 'b']);
  expect(notices).toEqual(['left out 1 marked noindex']);
});

test('the crawl stops at its number of pages and says so', async () => {
  const site = await startSite({ '/': pageWith('1') });
  for (let n = 1; n < 50; n += 1) site.routes[`/${n}`] = pageWith(`${n + 1}`, `${n + 2}`);
  const { paths, notices } = await crawl(`${site.origin}/`, { maxPages: 4, maxDepth: 100 });
  expect(paths).toEqual(['index.html', '1', '2', '3']);
  expect(notices).toEqual(['stopped at 4 pages; maxPages raises it']);
  expect(site.requests).toHaveLength(5);
});

test('the crawl stops at its depth and says so', async () => {
  const site = await startSite({
    '/': pageWith('1'),
    '/1': pageWith('2'),
    '/2': pageWith('3'),
    '/3': pageWith(),
  });
  const { paths, notices } = await crawl(`${site.origin}/`, { maxDepth: 2 });
  expect(paths).toEqual(['index.html', '1', '2']);
  expect(notices).toEqual(['left out links deeper than 2; maxDepth raises it']);
});

test('the crawl stops when its time is up and keeps what it has', async () => {
  const site = await startSite({ '/': pageWith('a', 'never'), '/a': pageWith(), '/never': () => {} });
  const { paths, notices } = await crawl(`${site.origin}/`, { maxSeconds: 2 });
  expect(paths).toEqual(['index.html', 'a']);
  expect(notices).toEqual(['stopped when the time was up; maxSeconds raises it']);
});

test('the time that single pages take adds up', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const site = await startSite({ '/': pageWith(...names) });
  for (const name of names) {
    site.routes[`/${name}`] = (_, response) => {
      setTimeout(() => response.setHeader('content-type', 'text/html').end('x'), 100);
    };
  }
  const { notices } = await crawl(`${site.origin}/`, { maxSeconds: 0.35, concurrency: 1 });
  expect(notices).toEqual(['stopped when the time was up; maxSeconds raises it']);
});

test('time that the reader of the entries takes does not count', async () => {
  const site = await startSite({ '/': pageWith('a', 'b'), '/a': pageWith(), '/b': pageWith() });
  const source = createWebSource(`${site.origin}/`, { allowPrivate: true, maxSeconds: 2 });
  let count = 0;
  for await (const _ of source.entries()) {
    count += 1;
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
  expect(count).toBe(3);
});

test('a start that takes all the time is an error', async () => {
  const site = await startSite({ '/': () => {} });
  await expect(crawl(`${site.origin}/`, { maxSeconds: 0.1 })).rejects.toMatchObject({
    kind: 'api_error',
    message: 'The site did not answer in full within 0.1 seconds.',
  });
});

test('an aborted signal ends the crawl with its own reason', async () => {
  const controller = new AbortController();
  const site = await startSite({ '/': pageWith('a'), '/a': () => controller.abort(new Error('Ctrl-C')) });
  await expect(crawl(`${site.origin}/`, {}, controller.signal)).rejects.toThrow('Ctrl-C');
});

test('a reader that stops early stops the crawl', async () => {
  const site = await startSite({ '/': pageWith('a', 'b', 'c') });
  for await (const _ of createWebSource(`${site.origin}/`, { allowPrivate: true }).entries()) break;
  expect(site.requests).toEqual(['/robots.txt', '/']);
});

test('nothing is asked for after a reader stopped, not even what was waiting for its turn', async () => {
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

test('the pages of a sitemap are read in its order, and their links are not followed', async () => {
  const site = await startSite({ '/docs/b': pageWith('c'), '/docs/a': pageWith(), '/docs/c': pageWith() });
  site.routes['/docs/sitemap.xml'] = urlset(site, '/docs/b', '/docs/a');
  const { paths, entries } = await crawl(`${site.origin}/docs/sitemap.xml`);
  expect(paths).toEqual(['b', 'a']);
  expect(entries[0]?.root).toBe(`${site.origin}/docs/`);
});

test('a sitemap that lists pages elsewhere on its site has the whole site as root', async () => {
  const site = await startSite({ '/docs/a': pageWith() });
  site.routes['/maps/all.xml'] = urlset(site, '/docs/a');
  const { entries } = await crawl(`${site.origin}/maps/all.xml`);
  expect(entries).toMatchObject([{ root: `${site.origin}/`, relativePath: 'docs/a' }]);
});

test('a sitemap index with a packed sitemap leads to its pages', async () => {
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
  expect(notices).toEqual([expect.stringContaining('left out the sitemap')]);
  expect(source.covers({ uri: `${site.origin}/old`, root: `${site.origin}/` })).toBe(false);
});

test('a sitemap is known by its content and is bounded like a crawl', async () => {
  const site = await startSite({ '/1': pageWith(), '/2': pageWith(), '/3': pageWith() });
  site.routes['/map'] = urlset(site, '/1', '/2', '/3');
  const { paths, notices } = await crawl(`${site.origin}/map`, { maxPages: 2 });
  expect(paths).toEqual(['1', '2']);
  expect(notices).toEqual(['stopped at 2 pages; maxPages raises it']);
});

test.each([
  ['is malformed', '<urlset><url>', 'not well-formed'],
  [
    'lists no page of its own',
    '<urlset><url><loc>https://elsewhere.test/</loc></url></urlset>',
    'lists no page',
  ],
])('a sitemap that %s is refused', async (_, body, sentence) => {
  const site = await startSite({ '/sitemap.xml': text(body, 'application/xml') });
  await expect(crawl(`${site.origin}/sitemap.xml`)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining(sentence),
  });
});

test('a site that was searched to its end covers what it once held under the same root', async () => {
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
