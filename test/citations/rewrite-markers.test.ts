import { expect, test } from 'vitest';
import { findMarkers } from '../../src/citations/find-markers.ts';
import { rewriteMarkers } from '../../src/citations/rewrite-markers.ts';

/** The answer as it is shown where only the refs 1 to 5 are sources, and links to a.test are the first of them. */
function rewritten(answer: string): string {
  const resolved = findMarkers(answer).map((marker) => ({
    marker,
    refs: marker.references.flatMap(({ name, url }) => {
      if (url !== null) return url.includes('a.test') ? ['1'] : [];
      return /^[1-5]$/.test(name) ? [name] : [];
    }),
  }));
  return rewriteMarkers(answer, resolved);
}

test.each([
  ['It is so [1].', 'It is so [1].'],
  ['It is so [^1].', 'It is so [1].'],
  ['It is so 【2†source】.', 'It is so [2].'],
  ['It is so (source: [3]).', 'It is so [3].'],
  ['It is so [1-3].', 'It is so [1][2][3].'],
  ['It is so [1] [1].', 'It is so [1].'],
  ['It is so [1], [2] and [3].', 'It is so [1][2][3].'],
  ['It is so [1]; [2] & [3].', 'It is so [1][2][3].'],
  ['It is so [1] but [2] too.', 'It is so [1] but [2] too.'],
  ['It is so [1],           [2].', 'It is so [1][2].'],
  ['It is so [1],            [2].', 'It is so [1],            [2].'],
  ['It is so [1] [9].', 'It is so [1].'],
])('writes known markers as refs: %s', (answer, expected) => {
  expect(rewritten(answer)).toBe(expected);
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
  ['It is so, [9]', 'It is so'],
  ['It is so; [9]\nAnd so on.', 'It is so\nAnd so on.'],
  ['It is so, [9].', 'It is so.'],
  ['It is so. [9].', 'It is so.'],
  ['It is so! [9], and so on.', 'It is so! and so on.'],
  ['It is so. [9]...', 'It is so....'],
  ['It is so. [9].5', 'It is so..5'],
  ['It is so ([9]).', 'It is so.'],
  ['It is so ( [9] ).', 'It is so.'],
  ['It is so (([9])).', 'It is so.'],
  ['It is so *[9]*.', 'It is so.'],
  ['It is so (see [9]).', 'It is so.'],
  ['It is so (see also: [9]).', 'It is so.'],
  ['It is so (according to [9]).', 'It is so.'],
  ['It is so (as was said in [9]).', 'It is so (as was said in).'],
  ['It is so ([9], mostly).', 'It is so (mostly).'],
  ['It is so ([9] mostly).', 'It is so (mostly).'],
  ['It is so (mostly, [9]).', 'It is so (mostly).'],
])('removes unknown markers with leftover punctuation: %s', (answer, expected) => {
  expect(rewritten(answer)).toBe(expected);
});

test.each([
  ['It is so.\n\n- [9]\n- more', 'It is so.\n\n- more'],
  ['It is so.\n\n1. [9]\n2. more', 'It is so.\n\n2. more'],
  ['It is so.\n\n- [ ] [9]\n- more', 'It is so.\n\n- more'],
  ['It is so.\n\n> [9]\n\nMore.', 'It is so.\n\nMore.'],
  ['It is so.\n\n[9]\n\nMore.', 'It is so.\n\nMore.'],
  ['It is so.\n\nSee: [9]\n\nMore.', 'It is so.\n\nMore.'],
  ['It is so.\n[9]\nMore.', 'It is so.\nMore.'],
  ['It is so.\n[9]\n\nMore.', 'It is so.\n\nMore.'],
  ['[9]\n\nMore.', 'More.'],
  ['It is so.\n\n[9]', 'It is so.'],
  ['It is so.\n\n- [9]', 'It is so.'],
  ['It is so.\n\nOne more [9]', 'It is so.\n\nOne more'],
])('removes a line that becomes empty: %j', (answer, expected) => {
  expect(rewritten(answer)).toBe(expected);
});

test.each([
  ['Read [the guide](https://a.test/x) first.', 'Read the guide [1] first.'],
  ['Read [the guide](https://b.test/x) first.', 'Read the guide first.'],
  ['It is so. [the guide](https://a.test/x)', 'It is so. [1]'],
  ['It is so. [the guide](https://b.test/x)', 'It is so.'],
  ['It is so ([the guide](https://a.test/x)).', 'It is so [1].'],
  ['It is so. [the guide](https://a.test/x) says so.', 'It is so. the guide [1] says so.'],
  ['It is so [1], [the guide](https://a.test/x) says.', 'It is so [1], the guide [1] says.'],
  ['It is so [1](https://a.test/x).', 'It is so [1].'],
  ['It is so https://a.test/x.', 'It is so [1].'],
  ['It is so https://b.test/x.', 'It is so.'],
])('keeps the text of a link in a sentence: %s', (answer, expected) => {
  expect(rewritten(answer)).toBe(expected);
});

test.each([
  ['It is so.\n\nSource: [1]\n\nMore.', 'It is so. [1]\n\nMore.'],
  ['It is so.\nSource: [1]', 'It is so. [1]'],
  ['# Head\n\nSource: [1]', '# Head\n\n[1]'],
  ['| a | b |\n\nSource: [1]', '| a | b |\n\n[1]'],
  ['Run this:\n\n    npm start\n\nSource: [1]', 'Run this:\n\n    npm start\n\n[1]'],
  ['Source: [1]\n\nMore.', '[1]\n\nMore.'],
  ['It is so.\n\nSource: [9]\n\nMore.', 'It is so.\n\nMore.'],
  ['It is so [1].\n\nSource: [2]', 'It is so [1]. [2]'],
])('moves a source line to the paragraph above: %j', (answer, expected) => {
  expect(rewritten(answer)).toBe(expected);
});

test('removes empty parentheses around known refs, unless they belong to a word', () => {
  expect(rewritten('It is so ([1]).')).toBe('It is so [1].');
  expect(rewritten('It is so （[1]）.')).toBe('It is so [1].');
  expect(rewritten('It is so [[1]].')).toBe('It is so [1].');
  expect(rewritten('It is so **[1]**.')).toBe('It is so [1].');
  expect(rewritten('It is so _(source: [1])_.')).toBe('It is so [1].');
  expect(rewritten('It is so * [1] *.')).toBe('It is so * [1] *.');
  expect(rewritten('It is so ([1]].')).toBe('It is so ([1]].');
  expect(rewritten('It is so ((((([1]))))).')).toBe('It is so ([1]).');
  expect(rewritten('It is f([1]).')).toBe('It is f([1]).');
});
