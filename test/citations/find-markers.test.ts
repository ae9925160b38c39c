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

test('a line that names sources is one marker, unless it is a sentence or too long', () => {
  expect(markersIn('Sources: [1], [2]')).toEqual([['Sources: [1], [2]', '1', '2']]);
  expect(markersIn('Text.\n  *Source*: Topics; Other\nMore.')).toEqual([
    ['  *Source*: Topics; Other', 'Topics', 'Other'],
  ]);
  const words = 'So it is said. '.repeat(8).trim();
  expect(markersIn(`Source: ${words} [1]`)).toEqual([[`Source: ${words} [1]`, '1']]);
  expect(markersIn(`Source: ${words} and so [1]`)).toEqual([['[1]', '1']]);
  expect(markersIn('Text. Source: Topics')).toEqual([]);
  expect(markersIn('Source:\nTopics')).toEqual([]);
});

test('the names of several sources are told apart where one of them is known', () => {
  expect(markersIn('A [Source: "Topics"]')).toEqual([['[Source: "Topics"]', 'Topics']]);
  expect(markersIn('A [Source: Topics, Other]')).toEqual([['[Source: Topics, Other]', 'Topics', 'Other']]);
  expect(markersIn('A [Source: Topics; Other, more]')).toEqual([
    ['[Source: Topics; Other, more]', 'Topics', 'Other, more'],
  ]);
  expect(markersIn('A [Source: Other; more]')).toEqual([['[Source: Other; more]', 'Other; more']]);
  expect(markersIn('A [Source: Other, https://a.test and https://b.test]')).toEqual([
    ['[Source: Other, https://a.test and https://b.test]', 'https://a.test', 'https://b.test'],
  ]);
  expect(markersIn('A [Source: Other, https://a.test]')).toEqual([
    ['[Source: Other, https://a.test]', 'https://a.test'],
  ]);
  expect(markersIn('A [Source: 1, 2]')).toEqual([['[Source: 1, 2]', '1', '2']]);
  expect(markersIn('A [Source: ]')).toEqual([]);
});

test('a backslash before a sign takes its meaning away, before a letter it does not', () => {
  expect(markersIn('A \\[1] B \\alpha [2]')).toEqual([['[2]', '2']]);
  expect(markersIn('A [Source: a \\[ b] C [Source: d \\e]')).toEqual([
    ['[Source: a \\[ b]', 'a [ b'],
    ['[Source: d \\e]', 'd \\e'],
  ]);
  expect(markersIn('A \\(Source: t) B \\<https://a.test>')).toEqual([['https://a.test', 'https://a.test']]);
});

test('markers stay within their block', () => {
  expect(markersIn('- [Source: a\n- b] [1]')).toEqual([['[1]', '1']]);
  expect(markersIn('- [a](https://a.test\n- x) (Source: b\n- c) 【1\n- 】')).toEqual([
    ['https://a.test', 'https://a.test'],
  ]);
});

test('a link needs its address right behind it, and something that may be one', () => {
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

test('an ordinary link that leads away from the sources cites nothing, but a picture, a title or a marker in it does', () => {
  const external = (answer: string) =>
    findMarkers(answer, { ...known, isExternal: (url) => url.includes('away') }).map(
      (marker) => marker.external ?? false,
    );
  expect(external('A [guide](https://away.test)')).toEqual([true]);
  expect(external('A [guide](https://a.test)')).toEqual([false]);
  expect(external('A ![guide](https://away.test)')).toEqual([false]);
  expect(external('A [Topics](https://away.test)')).toEqual([false]);
  expect(external('A [guide [1]](https://away.test)')).toEqual([false]);
  expect(external('A [Source: guide](https://away.test)')).toEqual([false]);
  expect(external('A [1](https://away.test) and [https://away.test](https://away.test)')).toEqual([
    false,
    false,
  ]);
  expect(findMarkers('A [guide](https://away.test)').map((marker) => marker.external)).toEqual([undefined]);
});

test('brackets of another kind may hold a ref, a source word, a dagger or a title', () => {
  expect(markersIn('A 【Source: Some】 B 【Some†L1】 C 【†L1】 D 【Topics】 E 【Some】')).toEqual([
    ['【Source: Some】', 'Some'],
    ['【Some†L1】', 'Some'],
    ['【†L1】', '†L1'],
    ['【Topics】', 'Topics'],
  ]);
  expect(markersIn(`A 【Source: ${'a'.repeat(591)}】 B 【Source: ${'a'.repeat(592)}】`)).toHaveLength(1);
});

test('a parenthesis is a marker only behind the word for a source', () => {
  expect(
    markersIn('A (Topics) B (Source: ) C (Source: see 【1】 or https://a.test) D (Source: a \\( b)'),
  ).toEqual([
    ['(Source: see 【1】 or https://a.test)', '1', 'https://a.test'],
    ['(Source: a \\( b)', 'a ( b'],
  ]);
  expect(markersIn(`A (Source: ${'a'.repeat(591)}) B (Source: ${'a'.repeat(592)})`)).toHaveLength(1);
});

test('the address of one’s own machine is a marker where it is that of a source', () => {
  const own = { ...known, knows: (reference: string) => reference === 'http://localhost/x' };
  expect(findMarkers('At http://localhost/x now.', own)).toMatchObject([{ line: false, label: null }]);
});

test('a word or phrase that is indexed stays so with several indices', () => {
  expect(markersIn('Take rows[i][1][2] and Topics[1][2].')).toEqual([
    ['[1]', '1'],
    ['[2]', '2'],
  ]);
  expect(markersIn('Take rows[Other][1] here.')).toEqual([]);
});

test('a bracket in code closes nothing outside of it', () => {
  expect(markersIn('A [Source: a `]` b].')).toEqual([['[Source: a `]` b]', 'a `]` b']]);
});

test('a link is no line of its own, and its text is prose where it is too long to name a source', () => {
  const label = (length: number) => `Source: ${'a'.repeat(length - 8)}`;
  const [short, long] = findMarkers(
    `A [${label(600)}](https://a.test) B [${label(601)}](https://a.test)`,
    known,
  );
  expect(short).toMatchObject({ label: null, line: false });
  expect(long).toMatchObject({ label: label(601), line: false });
});

test('a line of more than 600 characters is no line of sources, but what it holds are markers', () => {
  expect(markersIn(`Source: ${'[1]'.repeat(197)}`)).toHaveLength(1);
  expect(markersIn(`Source: ${'[1]'.repeat(198)}`)).toHaveLength(198);
});

test('a name is taken as it stands where it is known so, or where nothing is left of it', () => {
  const titled = { ...known, knows: (reference: string) => ['Keys, and locks', 'Keys'].includes(reference) };
  const namesIn = (answer: string) =>
    findMarkers(answer, titled).map(({ references }) => references.map(({ name }) => name));
  expect(namesIn('A [Source: Keys, and locks]')).toEqual([['Keys, and locks']]);
  expect(namesIn('A [Source: Keys, and doors]')).toEqual([['Keys', 'and doors']]);
  expect(namesIn('A [Source: ""]')).toEqual([['""']]);
});

test('an address within an address is a part of it, and "www." begins one only where a word begins', () => {
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
