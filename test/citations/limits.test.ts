import { expect, test } from 'vitest';
import { findMarkers } from '../../src/citations/find-markers.ts';

const names = (answer: string) => findMarkers(answer).map(({ names: found }) => found);

test('accepts an ascending span of at most 20 refs', () => {
  expect(names('So it is [1-20].')[0]).toHaveLength(20);
  expect(names('So it is [1-21].')).toEqual([]);
  expect(names('So it is [3-2].')).toEqual([]);
});

test('ignores intervals and years', () => {
  expect(names('A value in [0, 1] is drawn.')).toEqual([]);
  expect(names('The range [1, 5] is drawn.')).toEqual([]);
  expect(names('The interval is [1, 5] here.')).toEqual([]);
  expect(names('The points [1, 5, 9] are drawn.')).toEqual([['1', '5', '9']]);
  expect(names('In [2024] it was new.')).toEqual([]);
  expect(names('In [202] it was new.')).toEqual([['202']]);
  expect(names('It was new [2024].')).toEqual([]);
});

test('treats a bracket after a short or technical word as an index', () => {
  const isIndex = (before: string) => names(`${before}[1]`).length === 0;
  for (const before of ['a', 'xs', 'rows', 'my_list', 'rowCount', 'node.names', '$x']) {
    expect(isIndex(before), before).toBe(true);
  }
  for (const before of ['', 'here', 'the topic', 'AI', '2024', '你好', 'end.', 'abc']) {
    expect(isIndex(before), before).toBe(false);
  }
});

test('ignores brackets with more than 600 characters', () => {
  // With the word before it, the content has 600 characters, and then one more.
  expect(names(`It is so [Source: ${'a'.repeat(592)}].`)).toHaveLength(1);
  expect(names(`It is so [Source: ${'a'.repeat(593)}].`)).toEqual([]);
});
