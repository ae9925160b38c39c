import { expect, test } from 'vitest';
import { recommendArm } from '../../../src/evaluation/report/recommend-arm.ts';
import {
  type ColumnPair,
  compareColumns,
  testLosses,
} from '../../../src/evaluation/statistics/compare-columns.ts';
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
const CORRECT = { id: 'answer.correct', kind: 'binary', better: 'higher', unit: 'share' } as const;
const DECLINED = { ...CORRECT, id: 'abstention.recall' } as const;
const TOKENS = { id: 'cost.tokens', kind: 'mean', better: 'lower', unit: 'tokens' } as const;
const TIME = { ...TOKENS, id: 'time.total', unit: 'ms' } as const;

const repeated = (value: number, times: number) => new Array<number>(times).fill(value);
const near = (p: number) => expect.closeTo(p, 12);
const ids = (count: number) => Array.from({ length: count }, (_, index) => `case-${index}`);

function compare(...pairs: ColumnPair[]) {
  const count = pairs[0]?.arm.sum.length ?? 0;
  return compareArms([pairs], createSamplingUnits(ids(count)))[0] ?? [];
}

function compareArms(arms: readonly ColumnPair[][], units: SamplingUnits, permutations = 9999) {
  return compareColumns(arms, {
    caseIds: ids(units.unitOf.length),
    units,
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

test('lists cases of shares only', () => {
  const pair = { arm: columnOf([1, 5, 2]), baseline: columnOf([2, 2, 2]) };
  const metric = { ...TOKENS, unit: 'share' } as const;
  expect(compare({ metric, ...pair })[0]).toMatchObject({ better: ['case-0'], worse: ['case-1'] });
  expect(compare({ metric: TOKENS, ...pair })[0]).toMatchObject({
    better: [],
    worse: [],
    test: 'permutation',
  });
});

test('compares the cases that both arms have', () => {
  const pair = { arm: columnOf([1, 1, 0], [1, 1, 0]), baseline: columnOf([0.5, 0, 0.25], [1, 0, 1]) };
  expect(compare({ metric: TOKENS, ...pair })[0]).toMatchObject({ n: 1, difference: 0.5, interval: null });
});

test('tests repeated cases by permutation', () => {
  const [compared] = compare({
    metric: CORRECT,
    arm: columnOf([0.5, 0.6, 1]),
    baseline: columnOf([0, 0.4, 1]),
  });
  expect(compared).toMatchObject({ test: 'permutation', better: ['case-0', 'case-1'], worse: [] });
});

test('leaves out metrics without data in one of the arms', () => {
  const some = columnOf([1, 0]);
  const none = columnOf([0, 0], [0, 0]);
  expect(compare({ metric: TOKENS, arm: some, baseline: none })).toEqual([]);
  expect(compare({ metric: TOKENS, arm: none, baseline: some })).toEqual([]);
  expect(
    compare({ metric: TOKENS, arm: columnOf([1, 0], [1, 0]), baseline: columnOf([0, 1], [0, 1]) }),
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
    metric: { ...TOKENS, better: 'higher' } as const,
    arm: columnOf(repeated(0.9, count)),
    baseline: columnOf(repeated(0.1, count)),
  });
  expect(compare(ofDiffering(5))[0]).toMatchObject({ p: null, conclusion: 'too few' });
  expect(compare(ofDiffering(6))[0]).toMatchObject({ p: near(2 / 2 ** 6), conclusion: 'better' });
});

test('ignores differences of rounding', () => {
  const [compared] = compare({
    metric: { ...TOKENS, better: 'higher' } as const,
    arm: columnOf(repeated(0.3 + 1e-12, 8)),
    baseline: columnOf(repeated(0.3, 8)),
  });
  expect(compared).toMatchObject({ better: [], worse: [], p: null });
});

test('leaves untestable metrics out of the correction and gives correct answers four fifths', () => {
  const different = { arm: columnOf(repeated(1, 8)), baseline: columnOf(repeated(0, 8)) };
  const almostAlike = { arm: columnOf(repeated(1, 8)), baseline: columnOf([0, ...repeated(1, 7)]) };
  const [correct, untestable, tokens] = compare(
    { metric: CORRECT, ...different },
    { metric: DECLINED, ...almostAlike },
    { metric: TOKENS, ...different },
  );
  const p = 2 / 2 ** 8;
  expect(correct).toMatchObject({ p: near(p), adjustedP: near(p / 0.8), conclusion: 'better' });
  expect(untestable).toMatchObject({ p: null, adjustedP: null, conclusion: 'too few', level: 0.95 });
  expect(tokens).toMatchObject({ adjustedP: near(p / 0.8), conclusion: 'worse' });
});

test('other pairs do not weaken the question and are corrected among themselves', () => {
  const pair = { metric: CORRECT, arm: columnOf(repeated(1, 7)), baseline: columnOf(repeated(0, 7)) };
  const p = 2 / 2 ** 7;
  const among = (pairs: number) =>
    compareArms(
      Array.from({ length: pairs }, () => [pair]),
      createSamplingUnits(ids(7)),
    ).map(([compared]) => compared);
  expect(among(1)[0]).toMatchObject({ adjustedP: near(p), conclusion: 'better', level: near(0.95) });
  const [question, other] = among(6);
  expect(question).toEqual(among(1)[0]);
  expect(other).toMatchObject({ adjustedP: near(5 * p), conclusion: 'undecided', level: near(0.99) });
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
      metric: TOKENS,
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
  expect(ofConversations(2)).toMatchObject({
    test: 'permutation',
    p: near(2 / 2 ** 10),
    conclusion: 'better',
  });
  expect(ofConversations(5)).toMatchObject({ p: null, conclusion: 'too few' });
});

/* Simulations on arrays: each arm answers each case with a chance that depends on how easy the case is. */

interface SimulatedArm {
  name: string;
  /** Added to the chance of a right answer. */
  skill?: number;
  price?: number;
}

function createRandom(seed: number) {
  const next = createRandomIndex(seed);
  return () => next(2 ** 30) / 2 ** 30;
}

/**
 * Every pair of arms, as reports compare them. A quarter of the cases is unanswerable. `noise` is the share of answers
 * in which an arm does not do as the others.
 */
function simulate(
  arms: readonly SimulatedArm[],
  cases: number,
  random: () => number,
  seed: number,
  { noise = 1 } = {},
) {
  const ease = Array.from({ length: cases }, () => 1 - random() ** 3);
  const luck = ease.map(random);
  const columns = arms.map(({ skill = 0, price = 1 }) => {
    const right = ease.map((chance, index) =>
      Number((random() < noise ? random() : (luck[index] ?? 0)) < chance + skill),
    );
    const unanswerable = ease.map((_, index) => Number(index % 4 === 0));
    return [
      { metric: CORRECT, column: columnOf(right) },
      {
        metric: DECLINED,
        column: columnOf(
          right.map((value, index) => value * (unanswerable[index] ?? 0)),
          unanswerable,
        ),
      },
      {
        metric: TOKENS,
        column: columnOf(ease.map((chance) => price * (1500 - 1000 * chance + 400 * random()))),
      },
      { metric: TIME, column: columnOf(ease.map(() => 900 + 400 * random() ** 3)) },
    ];
  });
  const pairs = arms.flatMap((baseline, index) =>
    arms.slice(index + 1).map((arm, at) => ({
      baseline: baseline.name,
      arm: arm.name,
      columns: (columns[index + 1 + at] ?? []).map(({ metric, column }, place) => ({
        metric,
        arm: column,
        baseline: columns[index]?.[place]?.column as MetricColumn,
      })),
    })),
  );
  const compared = compareColumns(
    pairs.map((pair) => pair.columns),
    { caseIds: ids(cases), units: createSamplingUnits(ids(cases)), seed, margin: 0.05, permutations: 1999 },
  );
  const comparisons = pairs.map(({ baseline, arm }, index) => ({
    baseline,
    arm,
    metrics: compared[index] ?? [],
  }));
  return {
    comparisons,
    decision: recommendArm(
      arms.map(({ name }) => name),
      comparisons,
    ),
  };
}

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `arm ${index}` }));

test('claims nothing about nine equal arms in 95 % of comparisons', () => {
  const random = createRandom(11);
  const worlds = 100;
  let [claims, uncorrected] = [0, 0];
  for (let world = 0; world < worlds; world += 1) {
    const { comparisons, decision } = simulate(namesOf(9), 40, random, world + 1);
    const metrics = comparisons.flatMap((one) => one.metrics);
    uncorrected += metrics.filter(({ p }) => p !== null && p < 0.05).length;
    const isClaim = metrics.some(({ conclusion }) => conclusion === 'better' || conclusion === 'worse');
    if (isClaim || decision?.arms.length !== 9) claims += 1;
  }
  // Uncorrected, hundreds of these are below 0.05. Five of 100 are expected; chance may add some.
  expect(uncorrected).toBeGreaterThan(200);
  expect(claims).toBeLessThanOrEqual(8);
});

test('recommends a cheaper arm that answers as many', () => {
  const random = createRandom(12);
  const arms = [{ name: 'tool' }, { name: 'always', price: 0.6 }, { name: 'first', price: 1.1 }];
  const decisions = Array.from(
    { length: 20 },
    (_, world) => simulate(arms, 300, random, world + 1, { noise: 0.01 }).decision,
  );
  const right = decisions.filter((decision) => decision?.kind === 'use' && decision.arms.join() === 'always');
  expect(right.length).toBeGreaterThanOrEqual(18);
});

test('recommends an arm that answers more although it is dearer', () => {
  const random = createRandom(13);
  const arms = [
    { name: 'tool' },
    { name: 'never', skill: -0.6, price: 0.1 },
    { name: 'large', skill: 0.25, price: 5 },
  ];
  const decisions = Array.from({ length: 20 }, (_, world) => simulate(arms, 150, random, world + 1).decision);
  expect(decisions.filter((decision) => decision?.arms.join() === 'large').length).toBeGreaterThanOrEqual(18);
});

test('never recommends an arm by a comparison that was not made', () => {
  const random = createRandom(14);
  const arms = [
    { name: 'tool' },
    { name: 'always', price: 0.7 },
    { name: 'first', price: 1.1 },
    { name: 'never', skill: -0.5 },
  ];
  for (let world = 0; world < 10; world += 1) {
    const { decision } = simulate(arms, 51, random, world + 1);
    // Fifty noisy cases cannot tell three equal arms apart.
    expect(decision?.arms).toEqual(expect.arrayContaining(['always']));
    expect(decision?.kind).toBe('undecided');
  }
});

test('unchanged settings of a noisy model pass the test for losses 19 of 20 times, and large losses fail', () => {
  const random = createRandom(15);
  const cases = 50;
  const failures = (loss: number, repeats: number) => {
    const worlds = 200;
    let failed = 0;
    for (let world = 0; world < worlds; world += 1) {
      const chances = Array.from({ length: cases }, () => 1 - random() ** 3);
      const rerun = (lost: number) =>
        columnOf(
          chances.map((chance) => {
            const hits = Array.from({ length: repeats }, () => Number(random() < chance - lost));
            return hits.reduce((a, b) => a + b, 0) / repeats;
          }),
        );
      const pair = { metric: CORRECT, baseline: rerun(0), arm: rerun(loss) };
      const [tested] = testLosses([pair], {
        caseIds: ids(cases),
        units: createSamplingUnits(ids(cases)),
        seed: world + 1,
        margin: 0.05,
        permutations: 999,
      });
      if ((tested?.p ?? 1) < 0.05 && (tested?.largest ?? 0) > 0.05) failed += 1;
    }
    return failed / worlds;
  };
  expect(failures(0, 1)).toBeLessThanOrEqual(0.07);
  expect(failures(0, 3)).toBeLessThanOrEqual(0.07);
  expect(failures(0.3, 1)).toBeGreaterThan(0.8);
  expect(failures(0.15, 3)).toBeGreaterThan(0.8);
}, 20_000);

test('computes ratios and case values of columns and filters them', () => {
  const column = columnOf([1, 2, 0], [2, 2, 0]);
  expect(columnRatio(column)).toBe(0.75);
  expect(columnRatio(columnOf([], []))).toBeNaN();
  expect([0, 1, 2].map((index) => caseValueAt(column, index))).toEqual([0.5, 1, null]);
  expect(filterColumn(column, (index) => index < 2)).toEqual(column);
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
