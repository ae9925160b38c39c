import { expect, test } from 'vitest';
import { nearWords } from '../../src/text/misspellings.ts';

const near = (word: string) => new Map(nearWords(word).map((each) => [each.word, each]));

test.each([
  ['recieve', 'receive', 'swapped letters'],
  ['databse', 'database', 'a missing letter'],
  ['runing', 'running', 'a letter that should be doubled'],
  ['seperate', 'separate', 'another letter'],
  ['untill', 'until', 'a letter too many'],
  ['authentification', 'authentication', 'two letters too many'],
])('%s leads to %s: %s', (typed, meant) => {
  expect(near(typed).has(meant)).toBe(true);
});

test('swapped letters and doubled ones are likelier than another letter', () => {
  const weights = near('spriong');
  expect(weights.get('spirong')?.weight).toBeGreaterThan(weights.get('springg')?.weight ?? 0);
  expect(near('runing').get('running')?.weight).toBeGreaterThan(near('runing').get('ruling')?.weight ?? 9);
  expect(near('runing').get('ruling')?.replaced).toBe(true);
});

test('the first letter is taken to be right, but for a swap with the second', () => {
  expect([...near('house').keys()].filter((word) => word[0] !== 'h')).toEqual(['ohuse']);
});

test('a word is never near itself', () => {
  expect(near('aabb').has('aabb')).toBe(false);
});
