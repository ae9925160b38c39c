import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { collectSitemapPages, isSitemap, parseSitemap } from '../../../src/adapters/web/sitemap.ts';
import { formatPlainAdvice } from '../../../src/faults/advice.ts';

const start = new URL('https://docs.test/sitemap.xml');
const encode = (text: string) => new TextEncoder().encode(text);
const urlset = (...locations: string[]) =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${locations
    .map((location) => `<url><loc>${location}</loc><lastmod>2024-01-01</lastmod></url>`)
    .join('')}</urlset>`;
const index = (...locations: string[]) =>
  `<sitemapindex>${locations.map((location) => `<sitemap><loc>${location}</loc></sitemap>`).join('')}</sitemapindex>`;

/** The paths that a sitemap leads to, with the sitemaps below it given by path. */
async function pathsOf(xml: string, nested: Record<string, string | Uint8Array> = {}, maxPages = 100) {
  const notices: string[] = [];
  const loaded: string[] = [];
  const pages = await collectSitemapPages(await parseSitemap(encode(xml), start), start, {
    async load(url) {
      loaded.push(url.pathname);
      const found = nested[url.pathname] ?? '';
      return typeof found === 'string' ? encode(found) : found;
    },
    maxPages,
    onIncomplete: (notice) => notices.push(formatPlainAdvice(notice)),
  });
  return { paths: pages.map((page) => page.pathname + page.search), notices, loaded };
}

test('collects unique pages of the same site in order', async () => {
  const xml = urlset(
    'https://docs.test/b',
    ' https://docs.test/a#part ',
    'https://elsewhere.test/c',
    'https://docs.test/b',
    'http://docs.test/insecure',
    'javascript:alert(1)',
    '/relative',
  );
  expect((await pathsOf(xml)).paths).toEqual(['/b', '/a', '/relative']);
});

test('decodes XML entities and CDATA', async () => {
  const xml = urlset(
    'https://docs.test/?a=1&amp;b=2',
    'https://docs.test/&#97;&#x62;',
    '<![CDATA[https://docs.test/?c&d]]>',
  );
  expect((await pathsOf(xml)).paths).toEqual(['/?a=1&b=2', '/ab', '/?c&d']);
});

test('parses a sitemap with a namespace prefix', async () => {
  const xml = '<sm:urlset xmlns:sm="x"><sm:url><sm:loc>https://docs.test/a</sm:loc></sm:url></sm:urlset>';
  expect((await pathsOf(xml)).paths).toEqual(['/a']);
});

test('collects the pages of an index, also from gzipped sitemaps', async () => {
  const { paths } = await pathsOf(index('https://docs.test/1.xml', 'https://docs.test/2.xml.gz'), {
    '/1.xml': urlset('https://docs.test/a'),
    '/2.xml.gz': gzipSync(urlset('https://docs.test/b')),
  });
  expect(paths).toEqual(['/a', '/b']);
});

test('ends loops of sitemaps', async () => {
  const { paths, loaded } = await pathsOf(index('/1.xml', '/sitemap.xml'), {
    '/1.xml': index('/2.xml', '/sitemap.xml'),
    '/2.xml': urlset('/a'),
  });
  expect(paths).toEqual(['/a']);
  expect(loaded).toEqual(['/1.xml', '/2.xml']);
});

test('skips sitemaps beyond the limits with a notice', async () => {
  const wide = Array.from({ length: 60 }, (_, n) => `/${n}.xml`);
  const many = await pathsOf(index(...wide), Object.fromEntries(wide.map((path) => [path, urlset('/a')])));
  expect(many.loaded).toHaveLength(49);
  expect(many.notices).not.toEqual([]);
});

test('collects one page more than the limit and loads no further sitemaps', async () => {
  const { paths, loaded } = await pathsOf(
    index('/1.xml', '/2.xml'),
    { '/1.xml': urlset('/a', '/b', '/c', '/d'), '/2.xml': urlset('/e') },
    2,
  );
  expect(paths).toEqual(['/a', '/b', '/c']);
  expect(loaded).toEqual(['/1.xml']);
});

test('skips a broken sitemap of an index with a notice', async () => {
  const { paths, notices } = await pathsOf(index('/broken.xml', '/good.xml'), {
    '/broken.xml': '<urlset><url>',
    '/good.xml': urlset('/a'),
  });
  expect(paths).toEqual(['/a']);
  expect(notices).toEqual([expect.stringContaining('skipped the sitemap https://docs.test/broken.xml')]);
});

test.each([
  ['malformed XML', '<urlset><url><loc>x</url></urlset>', 'cannot be used as a sitemap'],
  ['an unclosed element', '<urlset>', 'cannot be used as a sitemap'],
  ['nothing', '', 'cannot be used as a sitemap'],
  ['plain text', 'hello', 'cannot be used as a sitemap'],
  ['a feed', '<rss><channel/></rss>', 'neither pages nor sitemaps'],
])('rejects %s as a sitemap', async (_, xml, sentence) => {
  await expect(parseSitemap(encode(xml), start)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining(sentence),
  });
});

test('rejects DTDs with endless or external entities', async () => {
  const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join(
    '',
  );
  const bomb = `<!DOCTYPE urlset [<!ENTITY l0 "lol">${laughs}]><urlset><url><loc>&l9;</loc></url></urlset>`;
  const thief =
    '<!doctype urlset [<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>&f;</loc></url></urlset>';
  for (const xml of [bomb, thief]) {
    await expect(parseSitemap(encode(xml), start)).rejects.toThrow('it has a DTD');
  }
});

test('rejects a gzipped sitemap that is damaged or too large', async () => {
  await expect(parseSitemap(gzipSync(Buffer.alloc(60 * 1024 * 1024)), start)).rejects.toThrow('too large');
  await expect(parseSitemap(gzipSync('x').subarray(0, 12), start)).rejects.toThrow('cannot be unpacked');
});

test('recognizes a sitemap by its extension or content', () => {
  expect(isSitemap(start, encode(''))).toBe(true);
  expect(isSitemap(new URL('https://docs.test/map'), encode(urlset()))).toBe(true);
  expect(isSitemap(new URL('https://docs.test/'), encode('<html><pre>&lt;urlset></pre><urlset>'))).toBe(
    false,
  );
  expect(isSitemap(new URL('https://docs.test/a.md'), encode('How to write <urlset>'))).toBe(false);
});
