import { expect, test } from 'vitest';
import { createMessageJoiner } from '../../../src/cli/chat/read-questions.ts';

function joined(...lines: string[]): (string | null)[] {
  const joiner = createMessageJoiner();
  return lines.map((line) => joiner.push(line));
}

test('a line is a message', () => {
  expect(joined('one', '', 'two')).toEqual(['one', '', 'two']);
});

test('a backslash at the end continues the line; two of them do not', () => {
  expect(joined('one \\', 'two\\', 'three')).toEqual([null, null, 'one \ntwo\nthree']);
  expect(joined('C:\\\\')).toEqual(['C:\\\\']);
});

test('take returns and clears an unfinished message', () => {
  const joiner = createMessageJoiner();
  joiner.push('half \\');
  expect(joiner.open).toBe(true);
  expect(joiner.take()).toBe('half');
  expect(joiner.open).toBe(false);
  expect(joiner.take()).toBeNull();
});
