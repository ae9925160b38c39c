import { expect, test } from 'vitest';
import { mixedPlaces } from '../../src/ingest/mixed-places.ts';

const A = 'file:///a/docs/';
const B = 'file:///b/docs/';

test('a place that has nothing to do with those before makes a collection of several', () => {
  expect(mixedPlaces([A], [A, B])).toEqual([A, B]);
  expect(mixedPlaces([A], [A, 'https://docs.test/guide/'])).toEqual([A, 'https://docs.test/guide/']);
});

test('what lies inside or around, beside the same files, or comes for what is gone, is no other place', () => {
  expect(mixedPlaces([], [A, B])).toEqual([]);
  expect(mixedPlaces([A], [A, `${A}api/`])).toEqual([]);
  expect(mixedPlaces([`${A}api/`], ['file:///a/'])).toEqual([]);
  expect(mixedPlaces([`${A}one.md`], [`${A}one.md`, `${A}two.md`])).toEqual([]);
  expect(mixedPlaces([A], [B])).toEqual([]);
  expect(mixedPlaces([A, B], [A, B])).toEqual([]);
});
