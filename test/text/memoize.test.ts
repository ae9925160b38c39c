import { expect, test } from 'vitest';
import { memoize } from '../../src/text/memoize.ts';

test('keeps the results of recent inputs, at most twice as many as the size, and none of long inputs', () => {
  const computed: string[] = [];
  const shout = memoize({ size: 2, longestKey: 3 }, (text) => {
    computed.push(text);
    return text.toUpperCase();
  });
  expect(['a', 'b', 'a', 'b'].map(shout)).toEqual(['A', 'B', 'A', 'B']);
  expect(computed).toEqual(['a', 'b']);
  for (const text of ['c', 'a', 'd', 'e', 'f']) shout(text);
  expect(computed).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  shout('b');
  expect(computed.at(-1)).toBe('b');
  computed.length = 0;
  for (const text of ['long', 'long']) shout(text);
  expect(computed).toEqual(['long', 'long']);
});
