import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearestName } from '../../src/text/nearest-name.ts';

const known = ['topK', 'temperature', 'maxTokens', 'maxTurns'];

test.each([
  ['topk', 'topK'],
  ['temprature', 'temperature'],
  ['max_tokens', 'maxTokens'],
  ['maxTurn', 'maxTurns'],
  ['tpoK', 'topK'],
  ['temp', 'temperature'],
])('finds for %s the name %s', (typed, meant) => {
  expect(nearestName(typed, known)).toBe(meant);
});

test.each(['colour', 'nope', 'x', 'max', ''])(
  'nothing is suggested for %j, which is near to none',
  (typed) => {
    expect(nearestName(typed, known)).toBeUndefined();
  },
);

test('returns a known name for itself', () => {
  fc.assert(fc.property(fc.constantFrom(...known), (name) => nearestName(name, known) === name));
});
