import { expect, test } from 'vitest';
import { bootstrapColumns, createBootstrapSampler } from '../../../src/evaluation/statistics/bootstrap.ts';
import { type ColumnPair, compareColumns } from '../../../src/evaluation/statistics/compare-columns.ts';
import {
  caseValueAt,
  columnRatio,
  createSamplingUnits,
  filterColumn,
  type MetricColumn,
  type SamplingUnits,
} from '../../../src/evaluation/statistics/metric-column.ts';
import { createRandomIndex } from '../../../src/evaluation/statistics/random-index.ts';

const columnOf = (values: readonly number[], of: readonly number[] = values.map(() => 1)): MetricColumn => ({
  sum: Float64Array.from(values),
  of: Float64Array.from(of),
});
const CORRECT = {
  id: 'answer.correct',
  kind: 'binary',
  better: 'higher',
  group: 'answer',
  unit: 'share',
} as const;
const OVERLAP = { id: 'overlap', kind: 'mean', better: 'higher', group: 'answer', unit: 'share' } as const;
const PRECISION = {
  id: 'precision',
  kind: 'ratio',
  better: 'higher',
  group: 'citation',
  unit: 'share',
} as const;
const STEPS = { id: 'steps', kind: 'mean', better: 'lower', group: 'effort', unit: 'number' } as const;

const repeated = (value: number, times: number) => new Array<number>(times).fill(value);
const near = (p: number) => expect.closeTo(p, 12);
const ids = (count: number) => Array.from({ length: count }, (_, index) => `case-${index}`);

function compare(...pairs: ColumnPair[]) {
  const count = pairs[0]?.arm.sum.length ?? 0;
  return compareArms([pairs], createSamplingUnits(count))[0] ?? [];
}

function compareArms(arms: readonly ColumnPair[][], units: SamplingUnits, permutations = 9999) {
  return compareColumns(arms, {
    caseIds: ids(units.unitOf.length),
    units,
    sample: createBootstrapSampler(1, units),
    seed: 1,
    margin: 0.05,
    permutations,
  });
}

test('compares a binary metric by its differing cases and lists them', () => {
  const [compared] = compare({
    metric: CORRECT,
    arm: columnOf([1, 1, 0, 1]),
    baseline: columnOf([0, 1, 1, 0]),
  });
  expect(compared).toMatchObject({
    metric: 'answer.correct',
    test: 'mcnemar',
    n: 4,
    difference: 0.25,
    p: null,
    better: ['case-0', 'case-3'],
    worse: ['case-2'],
    conclusion: 'too few',
  });
});

test('lists lower values as better where lower is better, and no cases of effort', () => {
  const metric = { ...STEPS, group: 'answer' } as const;
  const pair = { arm: columnOf([1, 5, 2]), baseline: columnOf([2, 2, 2]) };
  expect(compare({ metric, ...pair })[0]).toMatchObject({ better: ['case-0'], worse: ['case-1'] });
  expect(compare({ metric: STEPS, ...pair })[0]).toMatchObject({ better: [], worse: [], test: 'swaps' });
});

test('compares a mean on cases in both arms and a ratio on cases in either', () => {
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

test('tests repeated cases by permutation', () => {
  const [compared] = compare({
    metric: CORRECT,
    arm: columnOf([0.5, 0.6, 1]),
    baseline: columnOf([0, 0.4, 1]),
  });
  expect(compared).toMatchObject({ test: 'swaps', better: ['case-0', 'case-1'], worse: [] });
});

test('leaves out metrics without data in one of the arms', () => {
  const some = columnOf([1, 0]);
  const none = columnOf([0, 0], [0, 0]);
  expect(compare({ metric: PRECISION, arm: some, baseline: none })).toEqual([]);
  expect(compare({ metric: PRECISION, arm: none, baseline: some })).toEqual([]);
  expect(
    compare({ metric: OVERLAP, arm: columnOf([1, 0], [1, 0]), baseline: columnOf([0, 1], [0, 1]) }),
  ).toEqual([]);
});

test('cannot test five differing cases, and can prove six', () => {
  const ofDiffering = (count: number) => ({
    metric: CORRECT,
    arm: columnOf(repeated(1, 10)),
    baseline: columnOf([...repeated(0, count), ...repeated(1, 10 - count)]),
  });
  expect(compare(ofDiffering(6))[0]).toMatchObject({
    p: near(2 / 2 ** 6),
    adjustedP: near(2 / 2 ** 6),
    conclusion: 'better',
    needed: null,
  });
  expect(compare(ofDiffering(5))[0]).toMatchObject({ p: null, adjustedP: null, conclusion: 'too few' });
});

test('needs as many differing cases for a mean', () => {
  const ofDiffering = (count: number) => ({
    metric: OVERLAP,
    arm: columnOf(repeated(0.9, count)),
    baseline: columnOf(repeated(0.1, count)),
  });
  expect(compare(ofDiffering(5))[0]).toMatchObject({ p: null, conclusion: 'too few' });
  expect(compare(ofDiffering(6))[0]).toMatchObject({ p: near(2 / 2 ** 6), conclusion: 'better' });
});

test('ignores differences of rounding', () => {
  const [compared] = compare({
    metric: OVERLAP,
    arm: columnOf(repeated(0.3 + 1e-12, 8)),
    baseline: columnOf(repeated(0.3, 8)),
  });
  expect(compared).toMatchObject({ better: [], worse: [], p: null });
});

test('leaves untestable metrics out of the correction and weights correct answers by half', () => {
  const different = { arm: columnOf(repeated(1, 8)), baseline: columnOf(repeated(0, 8)) };
  const almostAlike = { arm: columnOf(repeated(1, 8)), baseline: columnOf([0, ...repeated(1, 7)]) };
  const [correct, untestable, other, effort] = compare(
    { metric: CORRECT, ...different },
    { metric: { ...CORRECT, id: 'untestable' }, ...almostAlike },
    { metric: { ...CORRECT, id: 'other' }, ...different },
    { metric: STEPS, ...different },
  );
  const p = 2 / 2 ** 8;
  // Weights 0.5, 0.1 and 0.2.
  expect(correct).toMatchObject({ p: near(p), adjustedP: near((0.8 * p) / 0.5), conclusion: 'better' });
  expect(untestable).toMatchObject({ p: null, adjustedP: null, conclusion: 'too few' });
  expect(other).toMatchObject({ adjustedP: near((0.8 * p) / 0.5), conclusion: 'better' });
  expect(effort).toMatchObject({ adjustedP: near((0.8 * p) / 0.5), conclusion: 'worse' });
});

test('corrects over all arms', () => {
  const arm = { metric: CORRECT, arm: columnOf(repeated(1, 7)), baseline: columnOf(repeated(0, 7)) };
  const p = 2 / 2 ** 7;
  const correctedAmong = (arms: number) =>
    compareArms(
      Array.from({ length: arms }, () => [arm]),
      createSamplingUnits(7),
    )[0]?.[0];
  expect(correctedAmong(1)).toMatchObject({ adjustedP: near(p), conclusion: 'better' });
  expect(correctedAmong(4)).toMatchObject({ adjustedP: near(4 * p), conclusion: 'undecided' });
});

test('concludes equivalence on many cases, not on few', () => {
  const alike = (count: number) => {
    const column = columnOf(repeated(1, count));
    return compare({ metric: CORRECT, arm: column, baseline: column })[0];
  };
  expect(alike(51)).toMatchObject({ conclusion: 'too few', needed: expect.any(Number) });
  expect(alike(60)).toMatchObject({ conclusion: 'equivalent', needed: null });
  // A proven difference of two points is within the margin.
  const slightly = compare({
    metric: CORRECT,
    arm: columnOf(repeated(1, 2000)),
    baseline: columnOf([...repeated(0, 40), ...repeated(1, 1960)]),
  })[0];
  expect(slightly?.adjustedP).toBeLessThan(0.001);
  expect(slightly).toMatchObject({ conclusion: 'equivalent' });
});

test('treats a few per cent of tokens as equivalent', () => {
  const baseline = columnOf(Array.from({ length: 100 }, (_, index) => 1000 + index));
  const withMore = (tokens: number) =>
    compare({
      metric: STEPS,
      baseline,
      arm: { ...baseline, sum: baseline.sum.map((sum) => sum + tokens) },
    })[0];
  expect(withMore(20)).toMatchObject({ conclusion: 'equivalent' });
  expect(withMore(80)).toMatchObject({ conclusion: 'worse' });
});

test('counts the turns of a conversation as one unit', () => {
  const arm = columnOf(repeated(1, 20));
  const baseline = columnOf(repeated(0, 20));
  const ofConversations = (turns: number) => {
    const names = Array.from({ length: 20 }, (_, index) => `talk ${Math.floor(index / turns)}`);
    return compareArms([[{ metric: CORRECT, arm, baseline }]], createSamplingUnits(names))[0]?.[0];
  };
  expect(ofConversations(1)).toMatchObject({ test: 'mcnemar', conclusion: 'better' });
  expect(ofConversations(2)).toMatchObject({ test: 'swaps', p: near(2 / 2 ** 10), conclusion: 'better' });
  expect(ofConversations(5)).toMatchObject({ p: null, conclusion: 'too few' });
});

/** Columns of equally good arms: metrics of each kind on cases that are hard or easy for all. */
function nullArms(arms: number, cases: number, random: () => number) {
  const hardness = Array.from({ length: cases }, random);
  const column = (value: (ease: number) => number, of: () => number = () => 1) => {
    const counts = hardness.map(of);
    return columnOf(
      hardness.map((ease, index) => value(ease) * (counts[index] ?? 0)),
      counts,
    );
  };
  const passes = () => column((ease) => Number(random() < ease));
  const armOf = () => [
    passes(),
    passes(),
    passes(),
    column((ease) => (ease + random()) / 2),
    column(
      (ease) => Number(random() < ease),
      () => Math.floor(random() * 4),
    ),
    column((ease) => 1000 * ease + 400 * random() ** 3),
  ];
  const metrics = [
    CORRECT,
    { ...CORRECT, id: 'clean' },
    { ...CORRECT, id: 'exact' },
    OVERLAP,
    PRECISION,
    { ...STEPS, id: 'tokens', unit: 'tokens' as const },
  ];
  const baseline = armOf();
  return Array.from({ length: arms - 1 }, () =>
    armOf().map((arm, index) => ({
      metric: metrics[index] as (typeof metrics)[number],
      arm,
      baseline: baseline[index] as MetricColumn,
    })),
  );
}

test('keeps the family-wise error at 5 % among nine equal arms', () => {
  const next = createRandomIndex(11);
  const random = () => next(2 ** 30) / 2 ** 30;
  const [worlds, cases] = [80, 40];
  const units = createSamplingUnits(cases);
  let [wrong, seen] = [0, 0];
  for (let world = 0; world < worlds; world += 1) {
    const compared = compareColumns(nullArms(9, cases, random), {
      caseIds: ids(cases),
      units,
      // Intervals do not affect the conclusions counted here.
      sample: (columns) => bootstrapColumns(columns, 1, 50, units),
      seed: world + 1,
      margin: 0.05,
      permutations: 1999,
    }).flat();
    seen += compared.filter(({ p }) => p !== null && p < 0.05).length;
    if (compared.some(({ conclusion }) => conclusion === 'better' || conclusion === 'worse')) wrong += 1;
  }
  // Uncorrected, hundreds of these are below 0.05. Four of 80 are expected; chance may add some.
  expect(seen).toBeGreaterThan(100);
  expect(wrong).toBeLessThanOrEqual(8);
});

test('computes ratios and case values of columns and filters them', () => {
  const column = columnOf([1, 2, 0], [2, 2, 0]);
  expect(columnRatio(column)).toBe(0.75);
  expect(columnRatio(columnOf([], []))).toBeNaN();
  expect([0, 1, 2].map((index) => caseValueAt(column, index))).toEqual([0.5, 1, null]);
  expect(filterColumn(column, (index) => index < 2)).toBe(column);
  expect(filterColumn(column, (index) => index > 0)).toEqual(columnOf([0, 2, 0], [0, 2, 0]));
  expect(filterColumn(columnOf([0, 1], [1, 1]), (index) => index > 0)).toEqual(columnOf([0, 1], [0, 1]));
});

test('finds eleven against three not significant', () => {
  const [compared] = compare({
    metric: CORRECT,
    arm: columnOf([...repeated(1, 11), ...repeated(0, 3)]),
    baseline: columnOf([...repeated(0, 11), ...repeated(1, 3)]),
  });
  expect(compared).toMatchObject({ p: near(940 / 2 ** 14), conclusion: 'undecided' });
});
