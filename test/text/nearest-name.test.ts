import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearestName } from '../../src/text/nearest-name.ts';

const known = ['topK', 'temperature', 'maxTokens', 'maxTurns'];

test.each([
  ['topk', 'topK'],
  ['temprature', 'temperature'],
  ['max_tokens', 'maxTokens'],
  ['maxTurn', 'maxTurns'],
])('%s was meant to be %s', (typed, meant) => {
  expect(nearestName(typed, known)).toBe(meant);
});

test('nothing is suggested for a name unlike all others', () => {
  expect(nearestName('colour', known)).toBeUndefined();
});

test('a known name is nearest to itself', () => {
  fc.assert(fc.property(fc.constantFrom(...known), (name) => nearestName(name, known) === name));
});
