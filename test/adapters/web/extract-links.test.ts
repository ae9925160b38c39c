import { expect, test } from 'vitest';
import { extractLinks } from '../../../src/adapters/web/extract-links.ts';

const page = new URL('https://docs.test/guide/intro');

function linksOf(html: string, robotsTag = '') {
  return extractLinks({ bytes: new TextEncoder().encode(html), url: page.href, robotsTag });
}

function hrefs(html: string, robotsTag?: string): string[] {
  return linksOf(html, robotsTag).links.map((href) => href.slice(page.origin.length));
}

test('resolves unique links in order without fragments', () => {
  const html =
    '<a href="setup#x">1</a><a href="/top">2</a><a href="setup">3</a><map><area href="../area"></map>';
  expect(hrefs(html)).toEqual(['/guide/setup', '/top', '/area']);
});

test('keeps query strings', () => {
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
])('ignores a link to %j', (href) => {
  expect(hrefs(`<a href="${href}">x</a>`)).toEqual([]);
});

test('resolves relative links against base', () => {
  expect(hrefs('<base href="/v2/"><a href="setup">x</a>')).toEqual(['/v2/setup']);
  expect(hrefs('<base href="https://elsewhere.test/"><a href="setup">x</a>')).toEqual([]);
});

test('ignores nofollow links', () => {
  expect(hrefs('<a rel="external NoFollow" href="a">x</a><a rel="next" href="b">x</a>')).toEqual([
    '/guide/b',
  ]);
});

test.each([
  ['nofollow', [], false],
  ['NOINDEX, follow', ['/guide/a'], true],
  ['none', [], true],
  ['index', ['/guide/a'], false],
])('obeys the robots directives %s', (content, expected, noindex) => {
  const html = '<a href="a">x</a>';
  for (const [body, header] of [
    [`<meta name="Robots" content="${content}">${html}`, ''],
    [html, content],
  ] as const) {
    expect(hrefs(body, header)).toEqual(expected);
    expect(linksOf(body, header).noindex).toBe(noindex);
  }
});

test('accepts a canonical URL on the same origin only', () => {
  expect(linksOf('<link rel="canonical" href="/guide/#top">').canonical).toBe('https://docs.test/guide/');
  expect(linksOf('<link rel="canonical" href="https://elsewhere.test/">').canonical).toBeNull();
});

test('returns no links for a page that is nested too deeply', () => {
  const html = `${'<div>'.repeat(50_000)}<a href="a">x</a>`;
  expect(linksOf(html).links.length).toBeLessThanOrEqual(1);
});

test('parses broken HTML like browsers', () => {
  expect(hrefs('<a href=a>x<a href="b"<p></table><td><!--<a href="c">-->')).toContain('/guide/a');
});
