import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findMarkers, findMarkersAndLinks } from '../../src/citations/find-markers.ts';
import { elapsed, HOSTILE } from './sources.ts';

const known = (reference: string) => ['1', '2', '3', '1500', 'Topics'].includes(reference);

/** Each marker or link as it is written, with its names, or the text and the address of a link. */
function markersIn(answer: string): string[][] {
  return findMarkersAndLinks(answer, known).map(({ start, end, names, link }) => [
    answer.slice(start, end),
    ...names,
    ...(link === null ? [] : [`${link.isImage ? '!' : ''}${link.label}|${link.url}`]),
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

test('finds titles, links and images', () => {
  expect(markersIn('A [Source: Some title]. B [Source: Some title](https://a.test/x).')).toEqual([
    ['[Source: Some title]', 'Some title'],
    ['[Source: Some title](https://a.test/x)', 'Some title', 'Source: Some title|https://a.test/x'],
  ]);
  expect(markersIn('A [guide](https://a.test/x_(y)) and [1](<https://a.test/x> "t").')).toEqual([
    ['[guide](https://a.test/x_(y))', 'guide|https://a.test/x_(y)'],
    ['[1](<https://a.test/x> "t")', '1', '1|https://a.test/x'],
  ]);
  expect(markersIn('A [Source: a [b] \\] c]')).toEqual([['[Source: a [b] \\] c]', 'a [b] ] c']]);
  expect(markersIn('See [Topics] and [Other], https://a.test and <https://a.test>.')).toEqual([]);
  expect(markersIn('![alt](https://a.test/i.png) So![1]')).toEqual([
    ['![alt](https://a.test/i.png)', '!alt|https://a.test/i.png'],
    ['[1]', '1'],
  ]);
  expect(findMarkers('A [guide](https://a.test) [1](https://a.test) [2]')).toMatchObject([{ names: ['2'] }]);
});

test('finds refs in lenticular brackets', () => {
  expect(markersIn('A【1†source】. B【2†L1-L9】 C【注意】 D【3】')).toEqual([
    ['【1†source】', '1'],
    ['【2†L1-L9】', '2'],
    ['【3】', '3'],
  ]);
});

test('ignores code', () => {
  expect(markersIn('Use `a[1]` and ``b ` [2]``.\n\n```\nc[1] [Source: x]\n```\nEnd [1]')).toEqual([
    ['[1]', '1'],
  ]);
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
  expect(markersIn('A [Source: 1, 2]')).toEqual([['[Source: 1, 2]', '1', '2']]);
  expect(markersIn('A [Source: ] and [Source: ""]')).toEqual([]);
});

test('keeps markers within their block', () => {
  expect(markersIn('- [Source: a\n- b] [1]')).toEqual([['[1]', '1']]);
});

test('requires an address directly after the text of a link', () => {
  expect(markersIn('A [b] (https://a.test) and [b](not an address)')).toEqual([]);
  expect(markersIn('A [Source: b] (see there)')).toEqual([['[Source: b]', 'b']]);
  expect(markersIn('A [b](page.md) and rows[1](x)')).toEqual([['[b](page.md)', 'b|page.md']]);
});

test('does not pair brackets across code', () => {
  expect(markersIn('A [Source: a `]` b].')).toEqual([['[Source: a `]` b]', 'a `]` b']]);
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
      for (const marker of findMarkersAndLinks(answer, known)) {
        expect(marker.start).toBeGreaterThanOrEqual(end);
        expect(marker.end).toBeGreaterThan(marker.start);
        expect(marker.names.length > 0 || marker.link !== null).toBe(true);
        end = marker.end;
      }
      expect(end).toBeLessThanOrEqual(answer.length);
    }),
    { numRuns: 500 },
  );
});

test.each(Object.entries(HOSTILE))('finding markers in 100 kB of %j takes little time', (_, text) => {
  expect(elapsed(() => findMarkersAndLinks(text, known))).toBeLessThan(20_000);
});
