import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bootstrap, percentileInterval, twoSidedP } from '../../../src/evaluation/statistics/bootstrap.ts';
import { type Column, ratioOf } from '../../../src/evaluation/statistics/column.ts';
import { createRandomIndex } from '../../../src/evaluation/statistics/random.ts';
import {
  effectOfDifferences,
  effectOfDiscordant,
  exactMcNemar,
  holm,
  wilsonInterval,
} from '../../../src/evaluation/statistics/significance.ts';

const columnOf = (values: readonly number[], of: readonly number[] = values.map(() => 1)): Column => ({
  sum: Float64Array.from(values),
  of: Float64Array.from(of),
});

test('McNemar gives the exact binomial probability', () => {
  // 2 * (1 + 10 + 45) / 2^10, 2 / 2^6, 2 * (1 + 5) / 2^5.
  expect(exactMcNemar(2, 8)).toBeCloseTo(0.109375, 12);
  expect(exactMcNemar(6, 0)).toBeCloseTo(0.03125, 12);
  expect(exactMcNemar(1, 4)).toBeCloseTo(0.375, 12);
  expect(exactMcNemar(0, 0)).toBe(1);
  expect(exactMcNemar(7, 7)).toBe(1);
});

test('McNemar does not underflow on thousands of pairs', () => {
  // The normal approximation with continuity correction: z = (|5200 - 4800| - 1) / 100 = 3.99.
  expect(exactMcNemar(5200, 4800)).toBeCloseTo(6.6e-5, 5);
  expect(exactMcNemar(10_000, 0)).toBe(0);
});

test('McNemar is symmetric, a probability, and smaller the more uneven the split', () => {
  fc.assert(
    fc.property(fc.nat(300), fc.nat(300), (a, b) => {
      const p = exactMcNemar(a, b);
      expect(p).toBe(exactMcNemar(b, a));
      expect(p).toBeGreaterThanOrEqual(0);
      expect(p).toBeLessThanOrEqual(1);
      if (a > b && b > 0) expect(exactMcNemar(a + 1, b - 1)).toBeLessThan(p + 1e-12);
    }),
  );
});

test('Holm multiplies the smallest by their number, the next by one less, and never goes down', () => {
  const adjusted = holm([0.01, 0.04, 0.03, 0.005]);
  expect(adjusted).toEqual([0.03, 0.06, 0.06, 0.02].map((p) => expect.closeTo(p, 12)));
  expect(holm([])).toEqual([]);
  expect(holm([0.9, 0.8])).toEqual([1, 1]);
});

test('Holm keeps the order, never falls below the p it was given, and never exceeds Bonferroni', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 }), (ps) => {
      const adjusted = holm(ps);
      ps.forEach((p, i) => {
        expect(adjusted[i]).toBeGreaterThanOrEqual(p);
        expect(adjusted[i]).toBeLessThanOrEqual(Math.min(1, p * ps.length) + 1e-12);
        ps.forEach((other, j) => {
          if (p < other) expect(adjusted[i]).toBeLessThanOrEqual(adjusted[j] as number);
        });
      });
    }),
  );
});

test('the Wilson interval matches published values', () => {
  // 81 of 263, Newcombe (1998): 0.2553 to 0.3662; 0 of 20: 0 to 0.1611; 29 of 29: 0.8830 to 1.
  const expected: [number, number, number, number][] = [
    [81, 263, 0.2553, 0.3662],
    [0, 20, 0, 0.1611],
    [29, 29, 0.883, 1],
  ];
  for (const [hits, n, low, high] of expected) {
    const interval = wilsonInterval(hits / n, n);
    expect(interval[0]).toBeCloseTo(low, 4);
    expect(interval[1]).toBeCloseTo(high, 4);
  }
});

test('the bootstrap interval of a mean is about two standard errors wide on either side', () => {
  const values = Array.from({ length: 200 }, (_, index) => (index % 10) / 10);
  const [low, high] = percentileInterval(bootstrap([columnOf(values)], 1)[0] as Float64Array) as [
    number,
    number,
  ];
  // Mean 0.45, standard deviation 0.2872, so 1.96 * 0.2872 / sqrt(200) = 0.0398.
  expect(low).toBeCloseTo(0.45 - 0.0398, 2);
  expect(high).toBeCloseTo(0.45 + 0.0398, 2);
});

test('thousands of cases, drawn in groups, give the same interval as their formula', () => {
  const random = createRandomIndex(5);
  const values = Array.from({ length: 10_000 }, () => random(1000) / 1000);
  const [low, high] = percentileInterval(bootstrap([columnOf(values)], 3)[0] as Float64Array) as [
    number,
    number,
  ];
  // 1.96 * 0.2887 / 100 on either side.
  expect(high - low).toBeCloseTo(2 * 1.96 * 0.002887, 2.5);
  expect(Math.abs((high + low) / 2 - ratioOf(columnOf(values)))).toBeLessThan(0.001);
});

test('the same seed gives the same samples, another seed others', () => {
  const column = columnOf([1, 2, 3, 4, 5, 6, 7]);
  const samples = (seed: number) => Array.from(bootstrap([column], seed, 50)[0] as Float64Array);
  expect(samples(1)).toEqual(samples(1));
  expect(samples(1)).not.toEqual(samples(2));
});

test('a bootstrap interval holds the value it is of, and arms that are the same do not differ', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 60 }),
      (values) => {
        const column = columnOf(values);
        const [first, second] = bootstrap([column, column], 7, 400) as [Float64Array, Float64Array];
        expect(first).toEqual(second);
        expect(twoSidedP(first.map((value, index) => value - (second[index] as number)))).toBe(1);
        const [low, high] = percentileInterval(first) as [number, number];
        expect(low).toBeLessThanOrEqual(ratioOf(column) + 1e-9);
        expect(high).toBeGreaterThanOrEqual(ratioOf(column) - 1e-9);
      },
    ),
    { numRuns: 60 },
  );
});

test('a difference on every case is beyond doubt, one on a single case is not', () => {
  const arms = (difference: (index: number) => number) => {
    const base = Array.from({ length: 40 }, (_, index) => index / 40);
    const changed = base.map((value, index) => value + difference(index));
    const [a, b] = bootstrap([columnOf(changed), columnOf(base)], 1) as [Float64Array, Float64Array];
    return twoSidedP(a.map((value, index) => value - (b[index] as number)));
  };
  expect(arms(() => 0.1)).toBeLessThan(0.001);
  expect(arms((index) => (index === 0 ? 0.1 : 0))).toBeGreaterThan(0.5);
});

test('a ratio that most samples leave undefined has no interval and proves nothing', () => {
  const column = columnOf([1, 0, 0, 0], [1, 0, 0, 0]);
  const [samples] = bootstrap([column], 1) as [Float64Array];
  expect(percentileInterval(samples)).toBeNull();
  expect(twoSidedP(samples)).toBe(1);
});

test('effect sizes are those of Cohen', () => {
  expect(effectOfDiscordant(8, 2)).toEqual({ name: 'g', value: expect.closeTo(0.3, 9), size: 'large' });
  expect(effectOfDiscordant(0, 0)).toEqual({ name: 'g', value: null, size: 'none' });
  // Differences 1, 2, 3: mean 2, standard deviation 1.
  expect(effectOfDifferences(columnOf([2, 4, 6]), columnOf([1, 2, 3]))).toEqual({
    name: 'd',
    value: expect.closeTo(2, 9),
    size: 'large',
  });
  // The same on every case: no spread to measure by.
  expect(effectOfDifferences(columnOf([2, 3]), columnOf([1, 2])).value).toBeNull();
});

test('random indices stay below their bound and reach all of it', () => {
  const random = createRandomIndex(0);
  const counts = new Array<number>(10).fill(0);
  for (let round = 0; round < 10_000; round += 1) {
    const index = random(10);
    counts[index] = (counts[index] ?? 0) + 1;
  }
  expect(counts).toHaveLength(10);
  for (const count of counts) expect(count).toBeGreaterThan(800);
});

test('an effect has the size of the bound that it reaches', () => {
  const sizes = (...splits: [number, number][]) => splits.map(([a, b]) => effectOfDiscordant(a, b).size);
  // g of 0.25, 0.15 and 0.05 exactly, then just below each.
  expect(sizes([3, 1], [13, 7], [11, 9])).toEqual(['large', 'medium', 'small']);
  expect(sizes([74, 26], [64, 36], [54, 46], [26, 74])).toEqual(['medium', 'small', 'none', 'medium']);
});

test('the effect of a ratio counts cases that have a part in either arm', () => {
  // The third case has none: it must not widen or narrow the spread.
  const arm = columnOf([1, 3, 0], [2, 4, 0]);
  const baseline = columnOf([1, 1, 0], [2, 4, 0]);
  expect(effectOfDifferences(arm, baseline)).toEqual(
    effectOfDifferences(columnOf([1, 3], [2, 4]), columnOf([1, 1], [2, 4])),
  );
});

test('p counts the samples on the rarer side of zero, with one more than there are, on both sides', () => {
  const samples = (below: number, above: number, zero = 0) =>
    Float64Array.from([
      ...new Array<number>(below).fill(-1),
      ...new Array<number>(above).fill(1),
      ...new Array<number>(zero).fill(0),
    ]);
  expect(twoSidedP(samples(3, 96))).toBeCloseTo((2 * 4) / 100, 12);
  expect(twoSidedP(samples(96, 3))).toBeCloseTo((2 * 4) / 100, 12);
  expect(twoSidedP(samples(0, 99))).toBeCloseTo(2 / 100, 12);
  expect(twoSidedP(samples(0, 97, 2))).toBeCloseTo((2 * 3) / 100, 12);
  expect(twoSidedP(samples(50, 50))).toBe(1);
});

test('the interval is the middle 95 of 100 samples, in whatever order they come', () => {
  const samples = Float64Array.from({ length: 201 }, (_, index) => (index * 7) % 201);
  expect(percentileInterval(samples)).toEqual([5, 195]);
});

test('a case that scored nothing in both arms has its part in the spread', () => {
  // Differences 0 and 1: mean 0.5, standard deviation 0.7071.
  const effect = effectOfDifferences(columnOf([0, 1]), columnOf([0, 0]));
  expect(effect.value).toBeCloseTo(0.5 / Math.SQRT1_2, 9);
});

test('of the samples 95 in 100 must be defined', () => {
  const samples = (missing: number) =>
    Float64Array.from({ length: 100 }, (_, index) => (index < missing ? Number.NaN : index));
  expect(percentileInterval(samples(5))).not.toBeNull();
  expect(percentileInterval(samples(6))).toBeNull();
  expect(twoSidedP(samples(5))).toBeCloseTo(2 / 96, 12);
  expect(twoSidedP(samples(6))).toBe(1);
});

test('the effect of a ratio takes in a case that only one arm has', () => {
  // What the cases move the ratios by: 0.5 and -0.5 in the one, nothing in the other.
  const effect = effectOfDifferences(columnOf([1, 0]), columnOf([1, 0], [1, 0]));
  expect(effect.value).toBeCloseTo(-0.5 / Math.SQRT1_2, 9);
});
