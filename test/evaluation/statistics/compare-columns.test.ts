import { expect, test } from 'vitest';
import { createSampler } from '../../../src/evaluation/statistics/bootstrap.ts';
import { type Column, masked, ratioOf, valueAt } from '../../../src/evaluation/statistics/column.ts';
import { type ColumnPair, compareColumns } from '../../../src/evaluation/statistics/compare-columns.ts';

const columnOf = (values: readonly number[], of: readonly number[] = values.map(() => 1)): Column => ({
  sum: Float64Array.from(values),
  of: Float64Array.from(of),
});
const CORRECT = { id: 'correct', kind: 'binary', better: 'higher', group: 'answer' } as const;
const OVERLAP = { id: 'overlap', kind: 'mean', better: 'higher', group: 'answer' } as const;
const PRECISION = { id: 'precision', kind: 'ratio', better: 'higher', group: 'citation' } as const;
const STEPS = { id: 'steps', kind: 'mean', better: 'lower', group: 'effort' } as const;

const repeated = (value: number, times: number) => new Array<number>(times).fill(value);
const near = (p: number) => expect.closeTo(p, 12);
const ids = (count: number) => Array.from({ length: count }, (_, index) => `case-${index}`);

function compare(...pairs: ColumnPair[]) {
  const count = pairs[0]?.arm.sum.length ?? 0;
  return compareColumns(pairs, ids(count), createSampler(1));
}

test('a binary metric is compared by the cases that differ, and they are named', () => {
  const [compared] = compare({
    metric: CORRECT,
    arm: columnOf([1, 1, 0, 1]),
    baseline: columnOf([0, 1, 1, 0]),
  });
  expect(compared).toMatchObject({
    metric: 'correct',
    test: 'mcnemar',
    n: 4,
    difference: 0.25,
    p: 1,
    better: ['case-0', 'case-3'],
    worse: ['case-2'],
    significant: false,
    effect: { name: 'g' },
  });
  expect(compared?.effect.value).toBeCloseTo(2 / 3 - 0.5, 12);
});

test('where less is better, the cases with less are the better ones, and of effort none is named', () => {
  const metric = { ...STEPS, group: 'answer' } as const;
  const pair = { arm: columnOf([1, 5, 2]), baseline: columnOf([2, 2, 2]) };
  expect(compare({ metric, ...pair })[0]).toMatchObject({ better: ['case-0'], worse: ['case-1'] });
  expect(compare({ metric: STEPS, ...pair })[0]).toMatchObject({ better: [], worse: [], test: 'bootstrap' });
});

test('a case of a mean counts if both arms have it; one of a ratio if either has', () => {
  const pair = { arm: columnOf([1, 1, 0], [1, 1, 0]), baseline: columnOf([0.5, 0, 0.25], [1, 0, 1]) };
  expect(compare({ metric: OVERLAP, ...pair })[0]).toMatchObject({
    n: 1,
    difference: 0.5,
    interval: null,
    better: ['case-0'],
    worse: [],
  });
  expect(compare({ metric: PRECISION, ...pair })[0]).toMatchObject({
    n: 3,
    difference: 1 - 0.375,
    better: ['case-0'],
  });
});

test('repeats settle a binary case by majority, and half of them is none', () => {
  const [compared] = compare({
    metric: CORRECT,
    arm: columnOf([0.5, 0.6, 1]),
    baseline: columnOf([0, 0.4, 0.5]),
  });
  expect(compared?.better).toEqual(['case-1', 'case-2']);
});

test('metrics without data in one of the arms are left out', () => {
  const some = columnOf([1, 0]);
  const none = columnOf([0, 0], [0, 0]);
  expect(compare({ metric: PRECISION, arm: some, baseline: none })).toEqual([]);
  expect(compare({ metric: PRECISION, arm: none, baseline: some })).toEqual([]);
  expect(
    compare({ metric: OVERLAP, arm: columnOf([1, 0], [1, 0]), baseline: columnOf([0, 1], [0, 1]) }),
  ).toEqual([]);
});

test('six differing cases that agree prove something, five cannot', () => {
  const ofDiffering = (count: number) => ({
    metric: CORRECT,
    arm: columnOf(repeated(1, 10)),
    baseline: columnOf([...repeated(0, count), ...repeated(1, 10 - count)]),
  });
  expect(compare(ofDiffering(6))[0]).toMatchObject({
    p: near(2 / 2 ** 6),
    adjustedP: near(2 / 2 ** 6),
    significant: true,
  });
  expect(compare(ofDiffering(5))[0]).toMatchObject({ p: near(2 / 2 ** 5), adjustedP: 1, significant: false });
});

test('a mean needs as many differing cases, however sure the bootstrap is', () => {
  const ofDiffering = (count: number) => ({
    metric: OVERLAP,
    arm: columnOf(repeated(0.9, count)),
    baseline: columnOf(repeated(0.1, count)),
  });
  expect(compare(ofDiffering(5))[0]).toMatchObject({ p: near(2 / 2 ** 5), adjustedP: 1, significant: false });
  expect(compare(ofDiffering(6))[0]).toMatchObject({ p: near(2 / 2 ** 6), significant: true });
});

test('a difference of rounding is none', () => {
  const [compared] = compare({
    metric: OVERLAP,
    arm: columnOf(repeated(0.3 + 1e-12, 8)),
    baseline: columnOf(repeated(0.3, 8)),
  });
  expect(compared).toMatchObject({ better: [], worse: [], p: 1 });
});

test('what cannot be proven takes no power from the rest, nor do effort and quality from each other', () => {
  const sure = { arm: columnOf(repeated(1, 6)), baseline: columnOf(repeated(0, 6)) };
  const unsure = { arm: columnOf([1, 1, 1, 1, 1, 1]), baseline: columnOf([0, 1, 1, 1, 1, 1]) };
  const wavering = { arm: columnOf(repeated(0.7, 6)), baseline: columnOf(repeated(0.6, 6)) };
  const [correct, hopeless, other, effort] = compare(
    { metric: CORRECT, ...sure },
    { metric: { ...CORRECT, id: 'hopeless' }, ...unsure },
    { metric: { ...CORRECT, id: 'other' }, ...sure },
    { metric: STEPS, ...sure },
    // By majority all of its cases agree, so that it proves nothing either.
    { metric: { ...CORRECT, id: 'wavering' }, ...wavering },
  );
  const p = 2 / 2 ** 6;
  // Two of the quality can be proven, so that each counts twice; the one of effort stands alone.
  expect(correct).toMatchObject({ p: near(p), adjustedP: near(2 * p), significant: false });
  expect(other).toMatchObject({ adjustedP: near(2 * p) });
  expect(hopeless).toMatchObject({ p: 1, adjustedP: 1, significant: false });
  expect(effort).toMatchObject({ adjustedP: near(p), significant: true });
});

test('columns give ratios, values of their cases, and the part of them that is wanted', () => {
  const column = columnOf([1, 2, 0], [2, 2, 0]);
  expect(ratioOf(column)).toBe(0.75);
  expect(ratioOf(columnOf([], []))).toBeNaN();
  expect([0, 1, 2].map((index) => valueAt(column, index))).toEqual([0.5, 1, null]);
  expect(masked(column, (index) => index < 2)).toBe(column);
  expect(masked(column, (index) => index > 0)).toEqual(columnOf([0, 2, 0], [0, 2, 0]));
  // Counted without a hit is a part, too.
  expect(masked(columnOf([0, 1], [1, 1]), (index) => index > 0)).toEqual(columnOf([0, 1], [0, 1]));
});

test('eleven cases against three are not yet significant', () => {
  const [compared] = compare({
    metric: CORRECT,
    arm: columnOf([...repeated(1, 11), ...repeated(0, 3)]),
    baseline: columnOf([...repeated(0, 11), ...repeated(1, 3)]),
  });
  expect(compared).toMatchObject({ p: near(940 / 2 ** 14), significant: false });
});
