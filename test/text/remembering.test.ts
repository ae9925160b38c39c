import { expect, test } from 'vitest';
import { itself, remembering } from '../../src/text/remembering.ts';

test('what was made of the last inputs is not made again, and no more than twice as many are kept', () => {
  const made: string[] = [];
  const shout = remembering({ most: 2, keyOf: itself, longest: 3 }, (text: string) => {
    made.push(text);
    return text.toUpperCase();
  });
  expect(['a', 'b', 'a', 'b'].map(shout)).toEqual(['A', 'B', 'A', 'B']);
  expect(made).toEqual(['a', 'b']);
  for (const text of ['c', 'a', 'd', 'e', 'f']) shout(text);
  expect(made).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  shout('b');
  expect(made.at(-1)).toBe('b');
  made.length = 0;
  for (const text of ['long', 'long']) shout(text);
  expect(made).toEqual(['long', 'long']);
});
