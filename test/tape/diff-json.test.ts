import { expect, test } from 'vitest';
import { diffJson, formatJsonDifference, jsonSimilarity } from '../../src/tape/diff-json.ts';

test('finds differences with their paths, including missing fields', () => {
  expect(diffJson({ a: [1, { b: 2 }], c: 1 }, { a: [1, { b: 3 }, 4], d: null })).toEqual([
    { path: 'a[1].b', before: 2, after: 3 },
    { path: 'a[2]', before: undefined, after: 4 },
    { path: 'c', before: 1, after: undefined },
    { path: 'd', before: undefined, after: null },
  ]);
  expect(diffJson([1, 2], [1])).toEqual([{ path: '[1]', before: 2, after: undefined }]);
  expect(diffJson([1], { 0: 1 })).toEqual([{ path: 'body', before: [1], after: { 0: 1 } }]);
  expect(diffJson('a', 'a', 'x')).toEqual([]);
  expect(diffJson(null, {}, 'x')).toEqual([{ path: 'x', before: null, after: {} }]);
});

test('measures similarity as the share of equal fields, with partial credit for a common prefix', () => {
  expect(jsonSimilarity({ a: 1, b: 2 }, { a: 1, b: 2 })).toBe(1);
  expect(jsonSimilarity({ a: 1, b: 2 }, { a: 1, b: 3 })).toBe(0.5);
  expect(jsonSimilarity({ a: 1 }, { b: 1 })).toBe(0);
  expect(jsonSimilarity([1, 2, 3, 4], [1, 2])).toBe(0.5);
  expect(jsonSimilarity('abcd', 'abxy')).toBeCloseTo(0.25);
  expect(jsonSimilarity('abcd', 'wxyz')).toBe(0);
  expect(jsonSimilarity('ab', 'abcd')).toBeCloseTo(0.25);
  expect(jsonSimilarity(undefined, undefined)).toBe(1);
  expect(jsonSimilarity({ a: [1, 2, 3] }, { a: 5 })).toBe(0);
});

test('formats a difference on one line and cuts long texts before the first change', () => {
  expect(formatJsonDifference({ path: 'a', before: 1, after: undefined })).toBe('  a: 1 -> (nothing)');
  expect(formatJsonDifference({ path: 'a', before: 'x\ny', after: { b: 1 } })).toBe(
    '  a: "x\\ny" -> {"b":1}',
  );
  const same = 'abcdefghij'.repeat(4);
  expect(formatJsonDifference({ path: 'a', before: `${same}1`, after: `${same}2` })).toBe(
    `  a: …${same.slice(-20)}1" -> …${same.slice(-20)}2"`,
  );
  const short = 'a'.repeat(30);
  expect(formatJsonDifference({ path: 'a', before: `${short}1`, after: `${short}2` })).toBe(
    `  a: "${short}1" -> "${short}2"`,
  );
});
