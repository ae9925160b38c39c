import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findMarkers, type KnownSources } from '../../src/citations/find-markers.ts';
import { elapsed, HOSTILE } from './sources.ts';

const known: KnownSources = {
  knows: (reference) => ['1', '2', '3', '1500', 'Topics'].includes(reference.trim()),
  isTitle: (text) => text === 'Topics',
};

/** Each marker as it is written, with the names of its references. */
function markersIn(answer: string): [string, ...string[]][] {
  return findMarkers(answer, known).map(({ start, end, references }) => [
    answer.slice(start, end),
    ...references.map(({ name, url }) => (url === null || url === name ? name : `${name}|${url}`)),
  ]);
}

test('refs in brackets', () => {
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

test('a span of refs is bounded', () => {
  expect(markersIn('See [1-9000000].')).toEqual([]);
  expect(markersIn('See [3-1].')).toEqual([]);
});

test('titles and links', () => {
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
  expect(markersIn('[Source: t] (https://a.test)')).toEqual([
    ['[Source: t] (https://a.test)', 't|https://a.test'],
  ]);
  expect(markersIn('See [Topics] and [Other].')).toEqual([['[Topics]', 'Topics']]);
  expect(markersIn('![alt](https://a.test/i.png)')).toEqual([
    ['![alt](https://a.test/i.png)', 'alt|https://a.test/i.png'],
  ]);
});

test('the text of a link outlives the link if it reads as prose', () => {
  const labels = (answer: string) => findMarkers(answer, known).map(({ label }) => label);
  expect(labels('[the guide](https://a.test)')).toEqual(['the guide']);
  expect(labels('[1](https://a.test) [Source: x](https://a.test) [https://a.test](https://a.test)')).toEqual([
    null,
    null,
    null,
  ]);
});

test('other forms of markers', () => {
  expect(
    markersIn('A【1†source】. B【2†L1-L9】 C【注意】 D (Source: Some title) E (source: [1], [2])'),
  ).toEqual([
    ['【1†source】', '1'],
    ['【2†L1-L9】', '2'],
    ['(Source: Some title)', 'Some title'],
    ['(source: [1], [2])', '1', '2'],
  ]);
  expect(markersIn('Text.\n\nSource: [Some title](https://a.test)\n')).toEqual([
    ['Source: [Some title](https://a.test)', 'Some title|https://a.test'],
  ]);
  expect(markersIn('Text.\n**Source:** Some title')).toEqual([['**Source:** Some title', 'Some title']]);
});

test('bare addresses end where the sentence goes on', () => {
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

test('the address of the reader’s own machine is something to open', () => {
  expect(markersIn('Open http://localhost:8080/x or http://127.0.0.1 now.')).toEqual([]);
  expect(markersIn('Open http://localhost@evil.test or http://localhost.evil.test now.')).toHaveLength(2);
});

test('code is left alone', () => {
  expect(
    markersIn('Use `a[1]` and ``b ` [2]``.\n\n```\nc[1] http://evil.test [Source: x]\n```\nEnd [1]'),
  ).toEqual([['[1]', '1']]);
  expect(markersIn('~~~\n[1]\n~~~~\n[2]')).toEqual([['[2]', '2']]);
});

test('an escaped or unclosed backtick opens no code', () => {
  expect(markersIn('\\`[1]\\` and ` [2]')).toEqual([
    ['[1]', '1'],
    ['[2]', '2'],
  ]);
  expect(markersIn('- a `\n- [1] `')).toEqual([['[1]', '1']]);
});

test('indices, task boxes, intervals and definitions of footnotes are no markers', () => {
  expect(markersIn('Take list[0], a[1], my_rows[2][3], node.names[1] and x[i][1].')).toEqual([]);
  expect(markersIn('- [ ] open\n- [x] done\n> [!NOTE]')).toEqual([]);
  expect(markersIn('Values in [0, 1], in the range [1, 2].')).toEqual([]);
  expect(markersIn('[^1]: a footnote\n[2]: another')).toEqual([]);
  expect(markersIn('\\[1\\]')).toEqual([]);
});

test('a bracket glued to a word is a marker if it may cite', () => {
  expect(markersIn('It has topics[1]. ROS 2[2], and this[9]. But this[9] goes on.')).toEqual([
    ['[1]', '1'],
    ['[2]', '2'],
    ['[9]', '9'],
  ]);
});

test('a year is a marker only at the end of a sentence or if there is such a ref', () => {
  expect(markersIn('In [2024] it began. It ended [2024]. Later [1500] too.')).toEqual([
    ['[2024]', '2024'],
    ['[1500]', '1500'],
  ]);
});

test('markers are in order, apart, and inside of the text', () => {
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
