import { expect, test } from 'vitest';
import { linksOf } from '../../../src/adapters/web/read-page.ts';

const page = new URL('https://docs.test/guide/intro');

function hrefs(html: string, robotsTag?: string): string[] {
  return linksOf(html, page, robotsTag).links.map((url) => url.pathname + url.search);
}

test('links are resolved against the page, without fragments, each once, in order', () => {
  const html =
    '<a href="setup#x">1</a><a href="/top">2</a><a href="setup">3</a><map><area href="../area"></map>';
  expect(hrefs(html)).toEqual(['/guide/setup', '/top', '/area']);
});

test('queries are kept as they are', () => {
  expect(hrefs('<a href="?page=2&amp;utm_source=x">next</a>')).toEqual(['/guide/intro?page=2&utm_source=x']);
});

test.each([
  'https://elsewhere.test/x',
  'http://docs.test/insecure',
  'https://docs.test:8443/port',
  'https://user:secret@docs.test/',
  'mailto:me@docs.test',
  'javascript:alert(1)',
  'data:text/html,x',
  'https://[broken',
  '',
])('a link to %j is left out', (href) => {
  expect(hrefs(`<a href="${href}">x</a>`)).toEqual([]);
});

test('base decides where relative links start', () => {
  expect(hrefs('<base href="/v2/"><a href="setup">x</a>')).toEqual(['/v2/setup']);
  expect(hrefs('<base href="https://elsewhere.test/"><a href="setup">x</a>')).toEqual([]);
});

test('a link marked nofollow is not followed', () => {
  expect(hrefs('<a rel="external NoFollow" href="a">x</a><a rel="next" href="b">x</a>')).toEqual([
    '/guide/b',
  ]);
});

test.each([
  ['nofollow', [], false],
  ['NOINDEX, follow', ['/guide/a'], true],
  ['none', [], true],
  ['index', ['/guide/a'], false],
])('a page whose robots are told %s is read accordingly', (content, expected, noindex) => {
  const html = '<a href="a">x</a>';
  for (const [body, header] of [
    [`<meta name="Robots" content="${content}">${html}`, ''],
    [html, content],
  ] as const) {
    expect(hrefs(body, header)).toEqual(expected);
    expect(linksOf(body, page, header).noindex).toBe(noindex);
  }
});

test('the canonical address counts on the same site only', () => {
  expect(linksOf('<link rel="canonical" href="/guide/#top">', page).canonical?.href).toBe(
    'https://docs.test/guide/',
  );
  expect(linksOf('<link rel="canonical" href="https://elsewhere.test/">', page).canonical).toBeNull();
});

test('a page nested without end has no links instead of breaking the crawl', () => {
  const html = `${'<div>'.repeat(50_000)}<a href="a">x</a>`;
  expect(linksOf(html, page).links.length).toBeLessThanOrEqual(1);
});

test('broken HTML is read as browsers do', () => {
  expect(hrefs('<a href=a>x<a href="b"<p></table><td><!--<a href="c">-->')).toContain('/guide/a');
});
