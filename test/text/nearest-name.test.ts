import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findNearestName } from '../../src/text/nearest-name.ts';

const known = ['topK', 'temperature', 'maxTokens', 'maxTurns'];

test.each([
  ['topk', 'topK'],
  ['temprature', 'temperature'],
  ['max_tokens', 'maxTokens'],
  ['maxTurn', 'maxTurns'],
  ['tpoK', 'topK'],
  ['temp', 'temperature'],
])('finds for %s the name %s', (typed, meant) => {
  expect(findNearestName(typed, known)).toBe(meant);
});

test.each(['colour', 'nope', 'x', 'max', ''])(
  'nothing is suggested for %j, which is near to none',
  (typed) => {
    expect(findNearestName(typed, known)).toBeUndefined();
  },
);

test('returns a known name for itself', () => {
  fc.assert(fc.property(fc.constantFrom(...known), (name) => findNearestName(name, known) === name));
});
