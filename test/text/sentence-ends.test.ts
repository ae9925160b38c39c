import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findSentenceEnds } from '../../src/text/split-sentences.ts';

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

function segmentEnds(text: string): number[] {
  return Array.from(segmenter.segment(text), ({ index, segment }) => index + segment.length);
}

test('sentences of the sample book and the docs end where Unicode ends them', () => {
  const paths = [...globSync('fixtures/book/**/*.md'), ...globSync('docs/*.md')];
  const paragraphs = paths.flatMap((path) => readFileSync(path, 'utf8').split(/\n{2,}/));
  expect(paragraphs.length).toBeGreaterThan(500);
  for (const paragraph of paragraphs) expect(findSentenceEnds(paragraph)).toEqual(segmentEnds(paragraph));
});

test('sentences of any words and signs end where Unicode ends them', () => {
  const piece = fc.constantFrom(
    'A',
    'b',
    '1',
    '.',
    '!',
    '?',
    '…',
    '。',
    ' ',
    ' ',
    '\n',
    '"',
    ')',
    '(',
    ',',
    '-',
    'É',
    '字',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('');
      expect(findSentenceEnds(text)).toEqual(segmentEnds(text));
    }),
    { numRuns: 2000 },
  );
});

test('a text of a million full stops is read in linear time', () => {
  expect(findSentenceEnds('. '.repeat(500_000))).toHaveLength(1);
  expect(findSentenceEnds('1. '.repeat(200_000)).length).toBeGreaterThan(0);
});
