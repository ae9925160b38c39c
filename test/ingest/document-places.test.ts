import { expect, test } from 'vitest';
import { mixedRoots } from '../../src/ingest/document-places.ts';

const A = 'file:///a/docs/';
const B = 'file:///b/docs/';

test('a place that has nothing to do with those before makes a collection of several', () => {
  expect(mixedRoots([A], [A, B])).toEqual([A, B]);
  expect(mixedRoots([A], [A, 'https://docs.test/guide/'])).toEqual([A, 'https://docs.test/guide/']);
});

test('what lies inside or around, beside the same files, or comes for what is gone, is no other place', () => {
  expect(mixedRoots([], [A, B])).toEqual([]);
  expect(mixedRoots([A], [A, `${A}api/`])).toEqual([]);
  expect(mixedRoots([`${A}api/`], ['file:///a/'])).toEqual([]);
  expect(mixedRoots([`${A}one.md`], [`${A}one.md`, `${A}two.md`])).toEqual([]);
  expect(mixedRoots([A], [B])).toEqual([]);
  expect(mixedRoots([A, B], [A, B])).toEqual([]);
});
