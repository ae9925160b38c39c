import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findMarkers, type KnownSources } from '../../src/citations/find-markers.ts';
import { elapsed, HOSTILE } from './sources.ts';

const known: KnownSources = {
  knows: (reference) => ['1', '2', '3', '1500', 'Topics'].includes(reference.trim()),
};

/** Each marker as it is written, with the names of its references. */
function markersIn(answer: string): [string, ...string[]][] {
  return findMarkers(answer, known).map(({ start, end, references }) => [
    answer.slice(start, end),
    ...references.map(({ name, url }) => (url === null || url === name ? name : `${name}|${url}`)),
  ]);
}

test('finds refs in brackets', () => {
  expect(markersIn('A [1]. B [1, 2]. C [1][2]. D [1-3]. E [^1] F [ref 2] G [#3] H [9].')).toEqual([
    ['[1]', '1'],
    ['[1, 2]', '1', '2'],
    ['[1]', '1'],
    ['[2]', '2'],
    ['[1-3]', '1', '2', '3'],
    ['[^1]', '1'],
    ['[ref 2]', '2'],
    ['[#3]', '3'],
    ['[9]', '9'],
  ]);
});

test('limits a span of refs', () => {
  expect(markersIn('See [1-9000000].')).toEqual([]);
  expect(markersIn('See [3-1].')).toEqual([]);
});

test('finds titles and links', () => {
  expect(markersIn('A [Source: Some title]. B [Source: Some title](https://a.test/x).')).toEqual([
    ['[Source: Some title]', 'Some title'],
    ['[Source: Some title](https://a.test/x)', 'Some title|https://a.test/x'],
  ]);
  expect(
    markersIn('A [guide](https://a.test/x_(y)) and [Source: a [b] \\] c](<https://a.test/x y> "t").'),
  ).toEqual([
    ['[guide](https://a.test/x_(y))', 'guide|https://a.test/x_(y)'],
    ['[Source: a [b] \\] c](<https://a.test/x y> "t")', 'a [b] ] c|https://a.test/x y'],
  ]);
  expect(markersIn('See [Topics] and [Other].')).toEqual([]);
  expect(markersIn('![alt](https://a.test/i.png)')).toEqual([
    ['![alt](https://a.test/i.png)', 'alt|https://a.test/i.png'],
  ]);
});

test('keeps the text of a link if it reads as prose', () => {
  const labels = (answer: string) => findMarkers(answer, known).map(({ label }) => label);
  expect(labels('[the guide](https://a.test)')).toEqual(['the guide']);
  expect(labels('[1](https://a.test) [Source: x](https://a.test) [https://a.test](https://a.test)')).toEqual([
    null,
    null,
    null,
  ]);
});

test('finds refs in lenticular brackets, and a link after a source word', () => {
  expect(markersIn('A【1†source】. B【2†L1-L9】 C【注意】 D【3】')).toEqual([
    ['【1†source】', '1'],
    ['【2†L1-L9】', '2'],
    ['【3】', '3'],
  ]);
  const line = 'Text.\n\nSource: [Some title](https://a.test)\n';
  expect(markersIn(line)).toEqual([['[Some title](https://a.test)', 'Some title|https://a.test']]);
  expect(findMarkers(line)).toMatchObject([{ label: null }]);
});

test('ends a bare address where the sentence continues', () => {
  expect(
    markersIn(
      'At https://a.test/x. (https://a.test/y_(z)) <https://a.test/q?a=1&b> **http://b.test** www.c.test, ftp://d',
    ),
  ).toEqual([
    ['https://a.test/x', 'https://a.test/x'],
    ['https://a.test/y_(z)', 'https://a.test/y_(z)'],
    ['<https://a.test/q?a=1&b>', 'https://a.test/q?a=1&b'],
    ['http://b.test', 'http://b.test'],
    ['www.c.test', 'www.c.test'],
    ['ftp://d', 'ftp://d'],
  ]);
});

test('ignores loopback addresses', () => {
  expect(markersIn('Open http://localhost:8080/x or http://127.0.0.1 now.')).toEqual([]);
  expect(markersIn('Open http://localhost@evil.test or http://localhost.evil.test now.')).toHaveLength(2);
});

test('ignores code', () => {
  expect(
    markersIn('Use `a[1]` and ``b ` [2]``.\n\n```\nc[1] http://evil.test [Source: x]\n```\nEnd [1]'),
  ).toEqual([['[1]', '1']]);
  expect(markersIn('~~~\n[1]\n~~~~\n[2]')).toEqual([['[2]', '2']]);
});

test('ignores escaped and unclosed backticks', () => {
  expect(markersIn('\\`[1]\\` and ` [2]')).toEqual([
    ['[1]', '1'],
    ['[2]', '2'],
  ]);
  expect(markersIn('- a `\n- [1] `')).toEqual([['[1]', '1']]);
});

test('ignores indexes, task boxes, intervals and escaped brackets', () => {
  expect(markersIn('Take list[0], a[1], my_rows[2][3], node.names[1] and x[i][1].')).toEqual([]);
  expect(markersIn('- [ ] open\n- [x] done\n> [!NOTE]')).toEqual([]);
  expect(markersIn('Values in [0, 1], in the range [1, 2].')).toEqual([]);
  expect(markersIn('\\[1\\]')).toEqual([]);
});

test('accepts a marker directly after a word', () => {
  expect(markersIn('It has topics[1]. ROS 2[2], and this[9].')).toEqual([
    ['[1]', '1'],
    ['[2]', '2'],
    ['[9]', '9'],
  ]);
});

test('accepts a year only as a known ref', () => {
  expect(markersIn('In [2024] it began. It ended [2024]. Later [1500] too.')).toEqual([['[1500]', '1500']]);
});

test('reads a name or refs after a source word', () => {
  expect(markersIn('A [Source: "Topics"]')).toEqual([['[Source: "Topics"]', 'Topics']]);
  expect(markersIn('A [Source: ""]')).toEqual([['[Source: ""]', '""']]);
  expect(markersIn('A [Source: 1, 2]')).toEqual([['[Source: 1, 2]', '1', '2']]);
  expect(markersIn('A [Source: ]')).toEqual([]);
});

test('unescapes punctuation but not letters', () => {
  expect(markersIn('A \\[1] B \\alpha [2]')).toEqual([['[2]', '2']]);
  expect(markersIn('A [Source: a \\[ b] C [Source: d \\e]')).toEqual([
    ['[Source: a \\[ b]', 'a [ b'],
    ['[Source: d \\e]', 'd \\e'],
  ]);
  expect(markersIn('A \\(Source: t) B \\<https://a.test>')).toEqual([['https://a.test', 'https://a.test']]);
});

test('keeps markers within their block', () => {
  expect(markersIn('- [Source: a\n- b] [1]')).toEqual([['[1]', '1']]);
  expect(markersIn('- [a](https://a.test\n- x) (Source: b\n- c) 【1\n- 】')).toEqual([
    ['https://a.test', 'https://a.test'],
  ]);
});

test('requires an address directly after the label of a link', () => {
  expect(markersIn('A [b] (https://a.test)')).toEqual([['https://a.test', 'https://a.test']]);
  expect(markersIn('A [b](not an address) and [c](<unclosed)')).toEqual([]);
  expect(markersIn('A [Source: b] (see there)')).toEqual([['[Source: b]', 'b']]);
  expect(markersIn('A [b](page.md) and rows[1](x)')).toEqual([['[b](page.md)', 'b|page.md']]);
  expect(markersIn('A [](https://a.test) and [1](https://a.test)')).toEqual([
    ['[](https://a.test)', 'https://a.test'],
    ['[1](https://a.test)', 'https://a.test'],
  ]);
  expect(markersIn('A ! [b](https://a.test) and !b')).toEqual([['[b](https://a.test)', 'b|https://a.test']]);
});

test('ignores plain links to other sites, but not images and labels with markers', () => {
  const external = (answer: string) =>
    findMarkers(answer, { ...known, isExternal: (url) => url.includes('away') }).map(
      (marker) => marker.external ?? false,
    );
  expect(external('A [guide](https://away.test)')).toEqual([true]);
  expect(external('A [guide](https://a.test)')).toEqual([false]);
  expect(external('A ![guide](https://away.test)')).toEqual([false]);
  expect(external('A [guide [1]](https://away.test)')).toEqual([false]);
  expect(external('A [Source: guide](https://away.test)')).toEqual([false]);
  expect(external('A [1](https://away.test) and [https://away.test](https://away.test)')).toEqual([
    false,
    false,
  ]);
  expect(findMarkers('A [guide](https://away.test)').map((marker) => marker.external)).toEqual([undefined]);
});

test('finds source words and daggers in lenticular brackets', () => {
  expect(markersIn('A 【Source: Some】 B 【Some†L1】 C 【†L1】 D 【Some】')).toEqual([
    ['【Source: Some】', 'Some'],
    ['【Some†L1】', 'Some'],
    ['【†L1】', '†L1'],
  ]);
  expect(markersIn(`A 【Source: ${'a'.repeat(592)}】 B 【Source: ${'a'.repeat(593)}】`)).toHaveLength(1);
});

test('treats a loopback address as a marker if it is a source', () => {
  const own = { ...known, knows: (reference: string) => reference === 'http://localhost/x' };
  expect(findMarkers('At http://localhost/x now.', own)).toMatchObject([{ label: null }]);
});

test('recognizes several indexes in a row', () => {
  expect(markersIn('Take rows[i][1][2] and Topics[1][2].')).toEqual([
    ['[1]', '1'],
    ['[2]', '2'],
  ]);
  expect(markersIn('Take rows[Other][1] here.')).toEqual([]);
});

test('does not pair brackets across code', () => {
  expect(markersIn('A [Source: a `]` b].')).toEqual([['[Source: a `]` b]', 'a `]` b']]);
});

test('keeps an address within an address, and starts "www." only at a word boundary', () => {
  expect(markersIn('A [Source: https://a.test/?u=https://b.test]')).toEqual([
    ['[Source: https://a.test/?u=https://b.test]', 'https://a.test/?u=https://b.test'],
  ]);
  expect(
    markersIn('www.a.test and xwww.b.test and .www.c.test and (www.d.test)').map(([text]) => text),
  ).toEqual(['www.a.test', 'www.d.test']);
  expect(markersIn('seehttps://a.test')).toEqual([['https://a.test', 'https://a.test']]);
  expect(markersIn('At https://[2001:db8::1]/x and https://[x] and http://.')).toEqual([
    ['https://[2001:db8::1]/x', 'https://[2001:db8::1]/x'],
  ]);
});

test('returns ordered markers without overlaps, within the text', () => {
  const noise = fc
    .array(
      fc.oneof(
        fc.string(),
        fc.constantFrom(
          '[',
          ']',
          '(',
          ')',
          '[1]',
          '`',
          '[Source: ',
          'http://',
          '【1†',
          '】',
          '\n',
          '\\',
          '](',
          'Source: ',
        ),
      ),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(noise, (answer) => {
      let end = 0;
      for (const marker of findMarkers(answer, known)) {
        expect(marker.start).toBeGreaterThanOrEqual(end);
        expect(marker.end).toBeGreaterThan(marker.start);
        expect(marker.references.length).toBeGreaterThan(0);
        end = marker.end;
      }
      expect(end).toBeLessThanOrEqual(answer.length);
    }),
    { numRuns: 500 },
  );
});

test.each(Object.entries(HOSTILE))('finding markers in 100 kB of %j takes little time', (_, text) => {
  expect(elapsed(() => findMarkers(text, known))).toBeLessThan(20_000);
});
