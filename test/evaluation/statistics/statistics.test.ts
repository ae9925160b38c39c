import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPermutationTest } from '../../../src/evaluation/statistics/permutation-test.ts';
import { createRandomIndex } from '../../../src/evaluation/statistics/random-index.ts';
import {
  estimateUnitsToDecide,
  holmCorrection,
  mcNemarTest,
  normalQuantile,
  pairedShareInterval,
  tangoInterval,
  tangoScore,
  wilsonInterval,
} from '../../../src/evaluation/statistics/significance.ts';

test('McNemar returns the exact binomial probability', () => {
  // 2 * (1 + 10 + 45) / 2^10, 2 / 2^6, 2 * (1 + 5) / 2^5.
  expect(mcNemarTest(2, 8)).toBeCloseTo(0.109375, 12);
  expect(mcNemarTest(6, 0)).toBeCloseTo(0.03125, 12);
  expect(mcNemarTest(1, 4)).toBeCloseTo(0.375, 12);
  expect(mcNemarTest(0, 0)).toBe(1);
  expect(mcNemarTest(7, 7)).toBe(1);
});

test('McNemar does not underflow on thousands of pairs', () => {
  // The normal approximation with continuity correction: z = (|5200 - 4800| - 1) / 100 = 3.99.
  expect(mcNemarTest(5200, 4800)).toBeCloseTo(6.6e-5, 5);
  expect(mcNemarTest(10_000, 0)).toBe(0);
});

test('McNemar is symmetric, a probability, and decreases with uneven splits', () => {
  fc.assert(
    fc.property(fc.nat(300), fc.nat(300), (a, b) => {
      const p = mcNemarTest(a, b);
      expect(p).toBe(mcNemarTest(b, a));
      expect(p).toBeGreaterThanOrEqual(0);
      expect(p).toBeLessThanOrEqual(1);
      if (a > b && b > 0) expect(mcNemarTest(a + 1, b - 1)).toBeLessThan(p + 1e-12);
    }),
  );
});

const adjust = (ps: readonly number[], weights?: readonly number[]) =>
  holmCorrection(ps, weights).map(({ adjustedP }) => adjustedP);

test('Holm multiplies the smallest p by the number of tests and never decreases', () => {
  const adjusted = adjust([0.01, 0.04, 0.03, 0.005]);
  expect(adjusted).toEqual([0.03, 0.06, 0.06, 0.02].map((p) => expect.closeTo(p, 12)));
  expect(adjust([])).toEqual([]);
  expect(adjust([0.9, 0.8])).toEqual([1, 1]);
});

test('Holm keeps the order and stays between the p and Bonferroni', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 }), (ps) => {
      const corrected = holmCorrection(ps);
      const adjusted = corrected.map(({ adjustedP }) => adjustedP);
      ps.forEach((p, i) => {
        expect(adjusted[i]).toBeGreaterThanOrEqual(p);
        if (Math.abs((adjusted[i] ?? 0) - 0.05) > 1e-9)
          expect(p < 0.05 * (corrected[i]?.share ?? 0)).toBe((adjusted[i] ?? 1) < 0.05);
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

test('random indices cover the range below the bound', () => {
  const random = createRandomIndex(0);
  const counts = new Array<number>(10).fill(0);
  for (let round = 0; round < 10_000; round += 1) {
    const index = random(10);
    counts[index] = (counts[index] ?? 0) + 1;
  }
  expect(counts).toHaveLength(10);
  for (const count of counts) expect(count).toBeGreaterThan(800);
});

test('weighted Holm gives more error to larger weights', () => {
  expect(adjust([0.01, 0.04, 0.03, 0.005], [0.25, 0.25, 0.25, 0.25])).toEqual(
    adjust([0.01, 0.04, 0.03, 0.005]).map((p) => expect.closeTo(p, 12)),
  );
  // 0.02 / 0.5 and 0.02 / 0.25: the first has half of the error, the others a quarter.
  expect(adjust([0.02, 0.02, 0.9], [0.5, 0.25, 0.25])).toEqual(
    [0.04, 0.04, 0.9].map((p) => expect.closeTo(p, 12)),
  );
});

test('the Tango score uses the maximum likelihood under the assumed difference', () => {
  // The likelihood of the discordant pairs, given their difference, searched by brute force.
  const likeliest = (b: number, c: number, n: number, difference: number) => {
    let [best, at] = [Number.NEGATIVE_INFINITY, 0];
    for (let share = 1e-6; share < 1; share += 1e-5) {
      const [first, agree] = [share + difference, 1 - 2 * share - difference];
      if (first <= 0 || agree <= 0) continue;
      const value = b * Math.log(first) + c * Math.log(share) + (n - b - c) * Math.log(agree);
      if (value > best) [best, at] = [value, share];
    }
    return at;
  };
  for (const [b, c, n, assumed] of [
    [12, 2, 50, 0.1],
    [3, 9, 80, -0.02],
    [20, 19, 80, 0.15],
  ] as const) {
    const share = likeliest(b, c, n, assumed);
    const expected = (b - c - n * assumed) / Math.sqrt(n * (2 * share + assumed * (1 - assumed)));
    expect(tangoScore(b, c, n, assumed)).toBeCloseTo(expected, 2);
  }
});

test('the Tango interval has the closed form for pairs that all agree', () => {
  const z = 1.645;
  const [low, high] = tangoInterval(0, 0, 80, z);
  expect(high).toBeCloseTo(z ** 2 / (80 + z ** 2), 6);
  expect(low).toBeCloseTo(-high, 6);
  const [from, to] = tangoInterval(12, 2, 50, 1.96);
  expect(Math.abs(tangoScore(12, 2, 50, from))).toBeCloseTo(1.96, 4);
  expect(Math.abs(tangoScore(12, 2, 50, to))).toBeCloseTo(1.96, 4);
  expect(from).toBeGreaterThan(0);
  expect(tangoInterval(5, 0, 5, 1.96)[1]).toBe(1);
});

test('the Tango interval is antisymmetric and contains the difference', () => {
  fc.assert(
    fc.property(fc.nat(30), fc.nat(30), fc.integer({ min: 1, max: 200 }), (b, c, agreeing) => {
      const n = b + c + agreeing;
      const [low, high] = tangoInterval(b, c, n, 1.96);
      const [turnedLow, turnedHigh] = tangoInterval(c, b, n, 1.96);
      expect(low).toBeLessThanOrEqual((b - c) / n + 1e-9);
      expect(high).toBeGreaterThanOrEqual((b - c) / n - 1e-9);
      expect(turnedLow).toBeCloseTo(-high, 6);
      expect(turnedHigh).toBeCloseTo(-low, 6);
    }),
  );
});

const testOf = (differences: readonly number[], sizes: readonly number[] = differences.map(() => 1)) =>
  createPermutationTest({ differences: Float64Array.from(differences), sizes: Float64Array.from(sizes) }, 1);
const signs = (up: number, down: number, same = 0) => [
  ...new Array<number>(up).fill(1),
  ...new Array<number>(down).fill(-1),
  ...new Array<number>(same).fill(0),
];

test('the permutation test equals McNemar for pass-or-fail cases', () => {
  for (const [b, c] of [
    [6, 0],
    [9, 2],
    [4, 4],
  ] as const)
    expect(testOf(signs(b, c, 40)).p).toBeCloseTo(mcNemarTest(b, c), 12);
  // Too many to enumerate: sampled.
  expect(testOf(signs(20, 8)).p).toBeCloseTo(mcNemarTest(20, 8), 2);
});

test('the permutation test counts permutations with as large a difference', () => {
  // Differences 1, 2, 3: of eight ways only two have a sum of 6 or -6.
  expect(testOf([1, 2, 3]).p).toBeCloseTo(2 / 8, 12);
  expect(testOf([1, 2, -3]).p).toBe(1);
  // Of sixteen ways, those with a sum of at least 2 + 3 + 4 - 1 = 8: 10, 8, and their opposites.
  expect(testOf([-1, 2, 3, 4]).p).toBeCloseTo(4 / 16, 12);
  expect(testOf([2, 0], [2, 4]).p).toBe(1);
  expect(testOf([0, 0]).p).toBe(1);
});

test('the permutation interval has the differences that the test does not reject', () => {
  const values = [3, 5, -1, 4, 6, 2, 7, 1];
  const [low, high] = testOf(values).intervalAt(0.9) as [number, number];
  const pAt = (assumed: number) => testOf(values.map((value) => value - assumed)).p;
  for (const inside of [low + 1e-6, (low + high) / 2, high - 1e-6])
    expect(pAt(inside)).toBeGreaterThanOrEqual(0.1);
  expect(pAt(low - 1e-6)).toBeLessThan(0.1);
  expect(pAt(high + 1e-6)).toBeLessThan(0.1);
  // Three units reject nothing at 5 %.
  expect(testOf([1, 2, 3]).intervalAt(0.95)).toBeNull();
});

test('the permutation interval of many values is two standard errors on either side', () => {
  const values = Array.from({ length: 200 }, (_, index) => (index % 10) / 10);
  const [low, high] = testOf(values).intervalAt(0.95) as [number, number];
  expect(low).toBeCloseTo(0.45 - 0.0398, 2);
  expect(high).toBeCloseTo(0.45 + 0.0398, 2);
});

test('intervals exclude 0 exactly if the test rejects', () => {
  const excludesZero = ([low, high]: readonly [number, number]) => low > 0 || high < 0;
  fc.assert(
    fc.property(
      fc.nat(25),
      fc.nat(25),
      fc.integer({ min: 1, max: 60 }),
      fc.constantFrom(0.05, 0.04, 0.01, 0.002),
      (b, c, agreeing, alpha) => {
        expect(excludesZero(pairedShareInterval(b, c, b + c + agreeing, alpha))).toBe(
          mcNemarTest(b, c) < alpha,
        );
        const { p, intervalAt } = testOf(signs(b, c, agreeing));
        const interval = intervalAt(1 - alpha);
        if (interval !== null) expect(excludesZero(interval)).toBe(p < alpha);
      },
    ),
    { numRuns: 60 },
  );
});

test('normal quantiles match published tables', () => {
  for (const [above, z] of [
    [0.025, 1.96],
    [0.05, 1.645],
    [0.2, 0.8416],
    [0.5, 0],
    [0.975, -1.96],
    [0.0005, 3.2905],
  ] as const)
    expect(normalQuantile(above)).toBeCloseTo(z, 2.9);
});

test('the number of units to decide matches the formula for McNemar', () => {
  // 30 % discordant, 10 points apart, 5 %, power 80 %: (1.96 sqrt(.3) + .8416 sqrt(.29))^2 / .01 = 233.
  const decided = { n: 0, difference: 0.1, differing: 0.3, deviation: Math.sqrt(0.29), margin: 0.05 };
  expect(estimateUnitsToDecide({ ...decided, alpha: 0.05, equivalenceAlpha: 0.05 })).toBeCloseTo(230, 0);
  // No difference at all: (1.645 + 1.2816)^2 * .3 / .0025 = 1028 to show that it is within 5 points.
  const alike = { ...decided, difference: 0, deviation: Math.sqrt(0.3), alpha: 0.05, equivalenceAlpha: 0.05 };
  expect(estimateUnitsToDecide(alike)).toBeCloseTo(1000, -2);
  expect(estimateUnitsToDecide({ ...alike, difference: 0, margin: 0 })).toBeNull();
});
