import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMarkerMerger, mergeMarkers } from '../../src/citations/merge-markers.ts';

const CASES: [string, string, string][] = [
  ['a paragraph of one source has one marker', 'A is. [1] B is. [1] C is. [1]', 'A is. B is. C is. [1]'],
  ['markers stay where the source changes', 'A is. [1] B is. [1] C is. [2]', 'A is. B is. [1] C is. [2]'],
  ['a marker before the full stop', 'A is [1]. B is [1].', 'A is. B is [1].'],
  ['an uncited sentence is not taken over', 'A is. [1] B is. C is. [1]', 'A is. [1] B is. C is. [1]'],
  ['each paragraph has its marker', 'A is. [1]\n\nB is. [1]', 'A is. [1]\n\nB is. [1]'],
  ['a list of one source has one marker', '- a [1]\n- b [1]\n- c [1]', '- a\n- b\n- c [1]'],
  ['an uncited item is not taken over', '- a [1]\n- b\n- c [1]', '- a [1]\n- b\n- c [1]'],
  ['a table', '| a [1] |\n| b [1] |', '| a |\n| b [1] |'],
  ['markers below code stay', 'Run: [1]\n\n```\nmake\n```\n\n[1]', 'Run: [1]\n\n```\nmake\n```\n\n[1]'],
  [
    'code and indexes stay',
    'Use `a[1]` and rows[1]. [1] So `b[1]`. [1]',
    'Use `a[1]` and rows[1]. So `b[1]`. [1]',
  ],
];
for (const [name, given, wanted] of CASES) {
  test(`${name}`, () => expect(mergeMarkers(given)).toBe(wanted));
}

function stream(pieces: readonly string[]): string {
  let out = '';
  const merger = createMarkerMerger((text) => {
    out += text;
  });
  for (const piece of pieces) merger.push(piece);
  merger.end();
  return out;
}

const sentence = fc.constantFrom('Alpha beta. [1] ', 'Gamma delta. [2] ', 'Eps. [1][2] ', 'Zeta. ');
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('').trim());
const list = fc
  .array(paragraph, { minLength: 1, maxLength: 4 })
  .map((items) => items.map((item) => `- ${item}`).join('\n'));
const answer = fc.array(fc.oneof(paragraph, list, fc.constant('```\nx = [1]\n```')), { maxLength: 5 });

test('a stream shows what the whole answer shows, however it is split', () => {
  fc.assert(
    fc.property(answer, fc.integer({ min: 1, max: 40 }), (blocks, size) => {
      const text = blocks.join('\n\n');
      const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
      expect(stream(pieces)).toBe(mergeMarkers(text));
    }),
  );
});

test('every source that is cited is still cited, and nothing else is lost', () => {
  fc.assert(
    fc.property(answer, (blocks) => {
      const text = blocks.join('\n\n');
      const merged = mergeMarkers(text);
      const marksOf = (each: string) => [...new Set(each.match(/\[\d\]/g))].toSorted();
      expect(marksOf(merged)).toEqual(marksOf(text));
      const without = (each: string) => each.replace(/[ \t]*\[\d\]/g, '');
      expect(without(merged)).toBe(without(text));
    }),
  );
});

test('a stream shows code at once, and text up to the last marker', () => {
  let out = '';
  const merger = createMarkerMerger((text) => {
    out += text;
  });
  merger.push('The first sentence is so. [1] And the second one is');
  expect(out).toBe('The first sentence is so.');
  merger.push(' as well. [2] But the third one is not yet here');
  expect(out).toBe('The first sentence is so. [1] And the second one is as well.');
  merger.push('. [2]\n\n```\nmake\n');
  expect(out).toBe(
    'The first sentence is so. [1] And the second one is as well. But the third one is not yet here. [2]\n\n```\nmake\n',
  );
});
