import { expect, test } from 'vitest';
import { findMixedRoots } from '../../src/ingest/document-places.ts';

const A = 'file:///a/docs/';
const B = 'file:///b/docs/';

test('reports all roots when an unrelated one is added', () => {
  expect(findMixedRoots([A], [A, B])).toEqual([A, B]);
  expect(findMixedRoots([A], [A, 'https://docs.test/guide/'])).toEqual([A, 'https://docs.test/guide/']);
});

test('reports nothing for nested, neighbouring or replaced roots', () => {
  expect(findMixedRoots([], [A, B])).toEqual([]);
  expect(findMixedRoots([A], [A, `${A}api/`])).toEqual([]);
  expect(findMixedRoots([`${A}api/`], ['file:///a/'])).toEqual([]);
  expect(findMixedRoots([`${A}one.md`], [`${A}one.md`, `${A}two.md`])).toEqual([]);
  expect(findMixedRoots([A], [B])).toEqual([]);
  expect(findMixedRoots([A, B], [A, B])).toEqual([]);
});
