import { expect, onTestFinished, test } from 'vitest';
import { createRobotsCache, type FindRobotsRules } from '../../../src/adapters/web/robots.ts';
import { createSafeFetch } from '../../../src/adapters/web/safe-fetch.ts';
import { redirectTo, type Site, startSite } from './start-site.ts';

function robotsFor(allowPrivate = true): FindRobotsRules {
  const web = createSafeFetch({ userAgent: 'citeloop/1.2.3', allowPrivate, retryDelayMs: 1 });
  onTestFinished(() => web.close());
  return createRobotsCache(web);
}

const robotsTxt = (...lines: string[]) => ({
  headers: { 'content-type': 'text/plain' },
  body: lines.join('\n'),
});

async function allows(site: Site, path: string): Promise<boolean> {
  const url = new URL(path, site.origin);
  return (await robotsFor()(url)).allows(url);
}

test('follows the rules for all user agents', async () => {
  const site = await startSite({
    '/robots.txt': robotsTxt(
      'User-agent: *',
      'Disallow: /private',
      'Allow: /private/open',
      'Disallow: /*.pdf$',
    ),
  });
  expect(await allows(site, '/docs')).toBe(true);
  expect(await allows(site, '/private/x')).toBe(false);
  expect(await allows(site, '/private/open/x')).toBe(true);
  expect(await allows(site, '/book.pdf')).toBe(false);
  expect(await allows(site, '/book.pdf?x')).toBe(true);
});

test('rules for citeloop replace those for all', async () => {
  const site = await startSite({
    '/robots.txt': robotsTxt(
      'User-agent: *',
      'Disallow: /',
      '',
      'User-agent: CiteLoop',
      'Disallow: /not-here',
    ),
  });
  expect(await allows(site, '/docs')).toBe(true);
  expect(await allows(site, '/not-here')).toBe(false);
});

test.each([404, 401, 403, 410])(
  'a robots.txt that answers with HTTP %i allows everything',
  async (status) => {
    const site = await startSite({ '/robots.txt': { status, body: 'User-agent: *\nDisallow: /' } });
    expect(await allows(site, '/docs')).toBe(true);
  },
);

test.each([500, 503, 429])('a robots.txt with HTTP %i disallows everything', async (status) => {
  const site = await startSite({ '/robots.txt': { status, headers: { 'retry-after': '0' } } });
  expect(await allows(site, '/docs')).toBe(false);
});

test('an unreachable robots.txt disallows everything', async () => {
  const site = await startSite({ '/robots.txt': (_, response) => response.socket?.destroy() });
  expect(await allows(site, '/docs')).toBe(false);
});

test('follows redirects of robots.txt', async () => {
  const site = await startSite({
    '/robots.txt': redirectTo('/moved'),
    '/moved': robotsTxt('User-agent: *', 'Disallow: /'),
  });
  expect(await allows(site, '/docs')).toBe(false);
});

test('throws for a robots.txt on a private network', async () => {
  const site = await startSite();
  await expect(robotsFor(false)(new URL(site.origin))).rejects.toMatchObject({
    kind: 'invalid_input',
  });
});

test('fetches robots.txt once per site', async () => {
  const site = await startSite();
  const robots = robotsFor();
  await Promise.all(['/a', '/b', '/c'].map((path) => robots(new URL(path, site.origin))));
  await robots(new URL(site.origin));
  expect(site.requests).toEqual(['/robots.txt']);
});

test.each([
  ['2', 2],
  ['3600', 10],
  ['-5', 0],
  ['soon', 0],
])('a crawl delay of %s is %d seconds', async (asked, seconds) => {
  const site = await startSite({ '/robots.txt': robotsTxt('User-agent: *', `Crawl-delay: ${asked}`) });
  expect((await robotsFor()(new URL(site.origin))).delay).toBe(seconds);
});

test('uses the beginning of an endless robots.txt', async () => {
  const rules = `User-agent: *\nDisallow: /private\n${'# filler\n'.repeat(100_000)}Disallow: /docs\n`;
  const site = await startSite({ '/robots.txt': robotsTxt(rules) });
  expect(await allows(site, '/private')).toBe(false);
  expect(await allows(site, '/docs')).toBe(true);
});
