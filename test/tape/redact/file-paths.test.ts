import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { hideFilePaths, restoreFilePaths } from '../../../src/tape/redact/file-paths.ts';
import { jsonExchange, sampleExchange } from '../support/sample-tape.ts';

test('replaces directories in file URLs by placeholders and restores them', () => {
  const uri = (...path: string[]) => pathToFileURL(join(...path)).href;
  const points = [
    uri(process.cwd(), 'docs/a.md'),
    uri(homedir(), 'b.md'),
    'file:///srv/very/private/c.md',
    `see ${uri(process.cwd(), 'docs')}/`,
    'https://docs.test/d.md',
  ];
  const hidden = hideFilePaths(jsonExchange(1, { points }, { points }));
  expect(hidden.request.body).toEqual({
    json: {
      points: [
        'file:///citeloop.here/docs/a.md',
        'file:///citeloop.home/b.md',
        'file:///citeloop.elsewhere/c.md',
        'see file:///citeloop.here/docs/',
        'https://docs.test/d.md',
      ],
    },
  });
  expect(hideFilePaths(hidden)).toEqual(hidden);
  const shown = JSON.parse(restoreFilePaths(JSON.stringify(hidden.response?.body)));
  expect(shown.json.points).toEqual([
    ...points.slice(0, 2),
    'file:///citeloop.elsewhere/c.md',
    ...points.slice(3),
  ]);
});

test('returns an exchange without file URLs unchanged', () => {
  const exchange = sampleExchange();
  expect(hideFilePaths(exchange)).toBe(exchange);
});
