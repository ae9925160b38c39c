import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findCitedRanges } from '../../../src/web/chat/cited-ranges.ts';

const PASSAGE = 'A node is a process. It talks by topics.\n\n- Topics: many to many\n- Services: one to one';

function citedText(answer: string, marker = '1'): string[] {
  return findCitedRanges(PASSAGE, answer, marker).map(({ start, end }) => PASSAGE.slice(start, end).trim());
}

test('finds the sentences that the cited sentence uses', () => {
  expect(citedText('A node is a process. [1] Services are something else. [2]')).toEqual([
    'A node is a process.',
  ]);
  expect(citedText('Nodes exist. [2] It talks by topics. [1]')).toEqual(['It talks by topics.']);
});

test('finds the sentences of every citation of the passage', () => {
  expect(citedText('A node is a process. [1] Services: one to one. [1]')).toEqual([
    'A node is a process.',
    '- Services: one to one',
  ]);
});

test('finds the closest sentence if none is close', () => {
  expect(citedText('Programs of a robot run as a separate process each. [1]')).toEqual([
    'A node is a process.',
  ]);
});

test('finds nothing if no word is shared', () => {
  expect(citedText('Bananas ripen quickly. [1]')).toEqual([]);
});

test('ranges are inside the passage, in order and do not overlap', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string({ minLength: 1 }), (passage, answer, marker) => {
      let end = 0;
      for (const range of findCitedRanges(passage, answer, marker)) {
        expect(range.start).toBeGreaterThanOrEqual(end);
        expect(range.end).toBeGreaterThan(range.start);
        end = range.end;
      }
      expect(end).toBeLessThanOrEqual(passage.length);
    }),
  );
});
