import { expect, test } from 'vitest';
import { cleanAnswer } from '../../src/citations/clean-answer.ts';
import { chunk } from '../domain/arbitraries.ts';
import { registerOf } from './sources.ts';

/** The refs 1 to 5 are sources; the first of them has an address on a.test. */
const register = registerOf(
  ...[1, 2, 3, 4, 5].map((ref) =>
    chunk({
      chunkId: `c${ref}`,
      title: `Guide ${ref}`,
      headings: [],
      url: ref === 1 ? 'https://a.test/x' : `https://c.test/${ref}`,
    }),
  ),
);
const cleaned = (answer: string) => cleanAnswer(answer, register).text;

test.each([
  ['It is so [1].', 'It is so [1].'],
  ['It is so [^1].', 'It is so [1].'],
  ['It is so 【2†source】.', 'It is so [2].'],
  ['It is so 【2†L1-L9】.', 'It is so [2].'],
  ['It is so [1-3].', 'It is so [1][2][3].'],
  ['It is so [1, 2].', 'It is so [1][2].'],
  ['It is so [1], [2] and [3].', 'It is so [1], [2] and [3].'],
  ['It is so [1] [9].', 'It is so [1].'],
  ['It is so [9][1].', 'It is so [1].'],
  ['It is so [Source: Guide 2].', 'It is so [2].'],
])('writes known markers as refs: %s', (answer, expected) => {
  expect(cleaned(answer)).toBe(expected);
});

test.each([
  ['It is so [9].', 'It is so.'],
  ['It is true[9].', 'It is true.'],
  ['It is so [9] and so on.', 'It is so and so on.'],
  ['It is so [9], and so on.', 'It is so, and so on.'],
  ['It is so. [9] And so on.', 'It is so. And so on.'],
  ['It is so. [9]', 'It is so.'],
  ['[9] It is so.', 'It is so.'],
  ['It is so.\n[9] And so on.', 'It is so.\nAnd so on.'],
  ['It is so, [9].', 'It is so.'],
  ['It is so [8], [9].', 'It is so.'],
  ['It is so ([9]).', 'It is so.'],
  ['It is so *[9]*.', 'It is so.'],
  ['It is so (see [9]).', 'It is so.'],
  ['It is so ([9], mostly).', 'It is so (mostly).'],
  ['It is so ([8], [9]).', 'It is so.'],
])('removes unknown markers with leftover punctuation: %s', (answer, expected) => {
  expect(cleaned(answer)).toBe(expected);
});

test.each([
  ['It is so.\n\n- [9]\n- more', 'It is so.\n- more'],
  ['It is so.\n\n[9]\n\nMore.', 'It is so.\n\nMore.'],
  ['It is so.\n\nSource: [9]\n\nMore.', 'It is so.\n\nMore.'],
  ['It is so.\n[9]\n\nMore.', 'It is so.\n\nMore.'],
  ['It is so.\n\n[9]', 'It is so.'],
  ['It is so.\n\nOne more [9]', 'It is so.\n\nOne more'],
])('removes a line that becomes empty: %j', (answer, expected) => {
  expect(cleaned(answer)).toBe(expected);
});

test.each([
  ['Read [the guide](https://a.test/x) first.', 'Read the guide [1] first.'],
  ['Read [the guide](https://b.test/x) first.', 'Read [the guide](https://b.test/x) first.'],
  ['Read [the guide](manual.md) first.', 'Read the guide first.'],
  ['It is so. [the guide](https://a.test/x)', 'It is so. [1]'],
  ['It is so ([the guide](https://a.test/x)).', 'It is so ([1]).'],
  ['It is so. [the guide](https://a.test/x) says so.', 'It is so. the guide [1] says so.'],
  ['It is so [1](https://a.test/x).', 'It is so [1].'],
  ['It is so [1](https://b.test/x).', 'It is so.'],
  ['It is so [Guide 2](https://b.test/x).', 'It is so Guide 2.'],
])('keeps the text of a link in a sentence: %s', (answer, expected) => {
  expect(cleaned(answer)).toBe(expected);
});

test.each([
  '## Sources\n\n- [1] The guide\n- [2] Another',
  '**References:**\n1. https://a.test\n2. https://b.test',
  'Sources:\n[1] The guide',
  'Sources used\n\n* [1]\n\n* [2]',
  'Works cited:\n- [1]',
  '**Sources:** [1], [2]',
  'References: https://a.test',
  '---\n\nSources:\n- [Evil](https://b.test)',
  '## Sources\n- [1]\n\n## References\n- [2]',
])('removes a list of sources: %j', (section) => {
  expect(cleaned(`It is so [1].\n\n${section}`)).toBe('It is so [1].');
});

test('reports unknown sources of a list, and removes it if nothing else is left', () => {
  const { text, unknown } = cleanAnswer(
    'It is so.\n\nSources:\n- [9] Other\n- [Evil](https://b.test)',
    register,
  );
  expect(text).toBe('It is so.');
  expect([...unknown]).toEqual(['9', 'Evil']);
});

test.each([
  'It is so [1].\n\n## Sources\n\n- of light\n- of sound',
  'It is so [1].\n\n## Sources\n\nThere are many of them, such as the sun. [1]\n\nAnd more of that.',
  `It is so [1].\n\n## Sources\n\n- [1] ${'x'.repeat(300)}`,
  'It is so [1].\n\nSource: [1]',
  'It is so [1].\n\n```\nSources:\n- [1]\n```',
  '## Sources\n\n- [1] The guide',
  'It is so.\n\n- [1] The guide',
  // The only citations.
  'It is so.\n\nSources: [1], [2]',
])('keeps text that only looks like a list of sources, and the only citations: %j', (answer) => {
  expect(cleaned(answer)).toBe(answer);
});

test('removes numbered definitions outside of code', () => {
  const definitions =
    '[1]: https://a.test\n[^2]: A footnote in words.\n  > [3]: <https://a.test> "The guide"';
  expect(cleaned(`It is so [1].\n\n${definitions}`)).toBe('It is so [1].');
  expect(cleaned('```\n[1]: https://a.test\n```')).toBe('```\n[1]: https://a.test\n```');
  expect(cleaned('So [1]: it is.')).toBe('So [1]: it is.');
});
