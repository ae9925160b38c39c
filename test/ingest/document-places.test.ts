import { expect, test } from 'vitest';
import { mixedRoots } from '../../src/ingest/document-places.ts';

const A = 'file:///a/docs/';
const B = 'file:///b/docs/';

test('reports all roots when an unrelated one is added', () => {
  expect(mixedRoots([A], [A, B])).toEqual([A, B]);
  expect(mixedRoots([A], [A, 'https://docs.test/guide/'])).toEqual([A, 'https://docs.test/guide/']);
});

test('reports nothing for nested, neighbouring or replaced roots', () => {
  expect(mixedRoots([], [A, B])).toEqual([]);
  expect(mixedRoots([A], [A, `${A}api/`])).toEqual([]);
  expect(mixedRoots([`${A}api/`], ['file:///a/'])).toEqual([]);
  expect(mixedRoots([`${A}one.md`], [`${A}one.md`, `${A}two.md`])).toEqual([]);
  expect(mixedRoots([A], [B])).toEqual([]);
  expect(mixedRoots([A, B], [A, B])).toEqual([]);
});
