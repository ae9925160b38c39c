import { expect, test } from 'vitest';
import {
  kappaOf,
  measureAgreement,
  measureLean,
  measureReliability,
  type Ruled,
} from '../../../src/evaluation/statistics/agreement.ts';
import { createSampler } from '../../../src/evaluation/statistics/bootstrap.ts';

const times = (count: number, person: boolean, judge: boolean): Ruled[] =>
  Array.from({ length: count }, () => ({ person, judge }));

test('kappa is what two raters agree on beyond chance', () => {
  // Both say yes 20 times and no 15 times, one alone 5, the other alone 10: .7 agree, .5 by chance.
  const ruled = [
    ...times(20, true, true),
    ...times(5, true, false),
    ...times(10, false, true),
    ...times(15, false, false),
  ];
  const { agreement, kappa, precision, recall, balancedAccuracy } = measureAgreement(ruled, createSampler(1));
  expect(agreement).toMatchObject({ value: 0.7, n: 50 });
  expect(kappa?.value).toBeCloseTo(0.4, 12);
  expect(precision).toMatchObject({ value: 20 / 30, n: 30 });
  expect(recall).toMatchObject({ value: 0.8, n: 25 });
  expect(balancedAccuracy?.value).toBeCloseTo((0.8 + 0.6) / 2, 12);
  // The standard error of this kappa is about .13, by Fleiss, Cohen and Everitt.
  const [low, high] = kappa?.interval ?? [0, 0];
  expect(low).toBeGreaterThan(0.08);
  expect(low).toBeLessThan(0.2);
  expect(high).toBeGreaterThan(0.58);
  expect(high).toBeLessThan(0.72);
});

test('kappa has no value where all is of one kind, and is 0 for a judge that says the same to everything', () => {
  expect(measureAgreement(times(9, true, true), createSampler(1)).kappa).toBeNull();
  const allYes = [...times(6, true, true), ...times(4, false, true)];
  expect(measureAgreement(allYes, createSampler(1)).kappa?.value).toBeCloseTo(0, 12);
  expect(kappaOf(0, 0.5, 0.5)).toBe(-1);
});

test('a kappa of few labels on which all agree is not taken for proof either', () => {
  const six = [...times(3, true, true), ...times(3, false, false)];
  const { kappa, balancedAccuracy } = measureAgreement(six, createSampler(1));
  // Wilson's lower bound of 6 of 6 is .610, of 3 of 3 .438; chance brings .5.
  expect(kappa).toMatchObject({ value: 1, interval: [expect.closeTo((0.6097 - 0.5) / 0.5, 3), 1] });
  expect(balancedAccuracy).toMatchObject({ value: 1, interval: [expect.closeTo(0.4385, 3), 1] });
});

test('what a judge did not rule on has no part, and full agreement is not taken for proof', () => {
  const { agreement, precision } = measureAgreement([...times(20, true, true), null, null], createSampler(1));
  // Wilson's bound for 20 of 20.
  expect(agreement).toEqual({ value: 1, n: 20, interval: [expect.closeTo(0.8389, 3), 1] });
  expect(precision?.n).toBe(20);
  expect(measureAgreement([null, null], createSampler(1)).agreement).toBeNull();
});

test('a judge that says yes to one kind more often than people do leans towards it', () => {
  // Of the kind: yes to 30 of 40 where people say 20. Of the others: yes to 10 of 40, as people do.
  const ruled = [
    ...times(20, true, true),
    ...times(10, false, true),
    ...times(10, false, false),
    ...times(10, true, true),
    ...times(30, false, false),
  ];
  const { ofKind, ofOthers, difference } = measureLean(ruled, (index) => index < 40, createSampler(1));
  expect(ofKind).toMatchObject({ value: 0.25, n: 40 });
  expect(ofOthers).toMatchObject({ value: 0, n: 40 });
  expect(difference).toMatchObject({ value: 0.25, n: 80 });
  // A share of 10 in 40 has a standard error of .068.
  expect(difference?.interval?.[0]).toBeCloseTo(0.25 - 1.96 * 0.068, 1);
  expect(measureLean(ruled, () => true, createSampler(1)).difference).toBeNull();
});

test('chances are compared with what came true, bin by bin', () => {
  const { error, bins } = measureReliability([
    { chance: 0.1, came: false },
    { chance: 0.1, came: true },
    { chance: 0.9, came: true },
    { chance: 1, came: true },
  ]);
  expect(bins).toMatchObject([
    { from: 0, n: 2, said: 0.1, came: 0.5 },
    { from: 0.8, to: 1, n: 2, said: 0.95, came: 1 },
  ]);
  // Half of the cases are off by .4, the others by .05.
  expect(error).toBeCloseTo(0.5 * 0.4 + 0.5 * 0.05, 12);
});
