import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markedSentences } from '../../../src/web/chat/marked-sentences.ts';

const PASSAGE = 'A node is a process. It talks by topics.\n\n- Topics: many to many\n- Services: one to one';

function markedIn(answer: string, marker = '1'): string[] {
  return markedSentences(PASSAGE, answer, marker)
    .filter(({ isMarked }) => isMarked)
    .map(({ text }) => text.trim());
}

test('the sentences are marked that the cited sentence is made of', () => {
  expect(markedIn('A node is a process. [1] Services are something else. [2]')).toEqual([
    'A node is a process.',
  ]);
  expect(markedIn('Nodes exist. [2] It talks by topics. [1]')).toEqual(['It talks by topics.']);
});

test('what two cited sentences rest on is marked twice', () => {
  expect(markedIn('A node is a process. [1] Services: one to one. [1]')).toEqual([
    'A node is a process.',
    '- Services: one to one',
  ]);
});

test('where no sentence is near, the nearest one is marked', () => {
  expect(markedIn('Programs of a robot run as a separate process each. [1]')).toEqual([
    'A node is a process.',
  ]);
});

test('where nothing is shared, nothing is marked', () => {
  expect(markedIn('Bananas ripen quickly. [1]')).toEqual([]);
});

test('whatever the passage and the answer, the runs are the passage', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string({ minLength: 1 }), (passage, answer, marker) => {
      const runs = markedSentences(passage, answer, marker);
      expect(runs.map(({ text }) => text).join('')).toBe(passage);
    }),
  );
});
