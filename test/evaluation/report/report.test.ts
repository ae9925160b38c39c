import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EvaluationCase } from '../../../src/evaluation/cases/evaluation-case.ts';
import { allMetrics } from '../../../src/evaluation/metrics/all-metrics.ts';
import { type ArmResults, assembleReport } from '../../../src/evaluation/report/assemble-report.ts';
import type { CaseRun } from '../../../src/evaluation/report/case-run.ts';
import { formatPValue } from '../../../src/evaluation/report/format-metric.ts';
import { formatFinding } from '../../../src/evaluation/report/format-verdict.ts';
import { assertGatesPassed, checkGate, parseGate } from '../../../src/evaluation/report/gates.ts';
import {
  type GateResult,
  parseReport,
  type ReportData,
  reportDataSchema,
} from '../../../src/evaluation/report/report-data.ts';
import { armSettings, createHeader } from '../report-fixtures.ts';
import { createRun, createRunError } from '../run-fixtures.ts';

const CASES: EvaluationCase[] = Array.from({ length: 80 }, (_, index) => ({
  id: `c${index}`,
  question: `Question ${index}?`,
  expectedPhrases: ['blue'],
  answerable: true,
  tags: [index % 2 === 0 ? 'even' : 'odd'],
}));

/** An arm that is right on the cases that `isRight` selects. */
function createArm(
  name: string,
  isRight: (index: number) => boolean,
  tokens = 100,
  cases = CASES,
): ArmResults {
  const run = (index: number): CaseRun =>
    createRun({
      answer: isRight(index) ? 'It is blue.' : 'It is red.',
      tokens: { prompt: tokens, completion: 0, total: tokens },
      searches: 1,
    });
  return {
    name,
    settings: armSettings,
    changed: {},
    runs: new Map(cases.map(({ id }, index) => [id, [run(index)]])),
  };
}

function createReport(...arms: ArmResults[]): ReportData {
  return assembleReport({ header: createHeader(CASES.length), cases: CASES, arms, metrics: allMetrics });
}

const findCorrect = (report: ReportData) =>
  report.comparisons[0]?.metrics.find(({ metric }) => metric === 'answer.correct');

test('a report fits its schema and survives JSON', () => {
  const report = createReport(
    createArm('tool', (index) => index < 60),
    createArm('always', (index) => index < 66, 190),
  );
  expect(reportDataSchema.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
});

test('parses older reports without their comparisons', () => {
  const report = createReport(
    createArm('tool', (index) => index < 60),
    createArm('always', (index) => index < 66, 190),
  );
  for (const format of ['citeloop-evaluation/2', 'citeloop-evaluation/3']) {
    const older = {
      ...report,
      format,
      metrics: report.metrics.map(({ primary: _, ...metric }) => metric),
      decision: { kind: 'take', arms: ['always'], needed: null },
      comparisons: [{ baseline: 'tool', arm: 'always', metrics: [], standing: {}, verdict: ['Take it.'] }],
    };
    expect(parseReport(JSON.parse(JSON.stringify(older)), 'old.json')).toMatchObject({
      format: report.format,
      decision: null,
      comparisons: [],
      cases: report.cases,
    });
  }
});

test('recommends an arm that answers more, with its price', () => {
  const report = createReport(
    createArm('tool', (index) => index < 60),
    createArm('always', (index) => index < 72, 190),
  );
  expect(findCorrect(report)).toMatchObject({ test: 'mcnemar', n: 80, conclusion: 'better', worse: [] });
  expect(findCorrect(report)?.p).toBeCloseTo(2 / 2 ** 12, 12);
  expect(findCorrect(report)?.better).toHaveLength(12);
  expect(report.decision).toEqual({ kind: 'use', arms: ['always'], needed: null });
  expect(report.verdict[0]).toBe(
    'Use “always”: it answers more questions correctly than “tool” (p < 0.001). Tokens per answer: 100 (“tool”), 190 (“always”).',
  );
  expect(report.verdict[1]).toBe(
    '“always” has 12 more correct answers than “tool” on 80 cases (only “always” right: 12, only “tool” right: 0): better, p < 0.001.',
  );
});

test('claims neither a difference nor equivalence that is not proven', () => {
  const report = createReport(
    createArm('tool', (index) => index < 60, 200),
    createArm('always', (index) => index > 18, 100),
  );
  expect(report.decision).toMatchObject({ kind: 'undecided', arms: ['tool', 'always'] });
  expect(report.decision?.needed).toBeGreaterThan(1000);
  expect(report.verdict[0]).toMatch(
    /^Undecided between “tool” and “always”: about \d+ more cases like these would decide it\. Tokens per answer: 200 \(“tool”\), 100 \(“always”\)\.$/,
  );
  expect(report.verdict[1]).toContain(
    '“always” has 1 more correct answer than “tool” on 80 cases (only “always” right: 20, only “tool” right: 19): undecided, p = 1.00.',
  );
});

test('sentences show the adjusted p', () => {
  const report = createReport(
    createArm('tool', (index) => index < 60),
    createArm('always', (index) => index < 67),
    createArm('first', (index) => index < 66),
  );
  for (const { metrics, verdict } of report.comparisons.slice(0, 2)) {
    const correct = metrics.find(({ metric }) => metric === 'answer.correct');
    expect(verdict).toContain(formatPValue(correct?.adjustedP ?? null));
  }
});

test('decides between equivalent arms by cost, money before tokens', () => {
  const cheap = (name: string, tokens: number, cost: number): ArmResults => {
    const arm = createArm(name, (index) => index < 60, tokens);
    return {
      ...arm,
      runs: new Map(Array.from(arm.runs, ([id, [run]]) => [id, [{ ...(run as CaseRun), cost }]])),
    };
  };
  const use = (arm: string) => ({ kind: 'use', arms: [arm], needed: null });
  expect(createReport(cheap('small', 100, 0.001), cheap('large', 100, 0.01)).decision).toEqual(use('small'));
  const cheaper = createReport(cheap('large', 100, 0.01), cheap('small', 100, 0.001));
  expect(cheaper.decision).toEqual(use('small'));
  expect(cheaper.verdict[0]).toBe(
    'Use “small”: it answers as many as “large”, within 5 points, and costs less. Price per answer: 0.0100 (“large”), 0.00100 (“small”).',
  );
  // Money takes precedence over tokens.
  const equal = createReport(cheap('long', 200, 0.01), cheap('short', 100, 0.01));
  expect(equal.decision).toEqual({ kind: 'either', arms: ['long', 'short'], needed: null });
  expect(equal.metrics.filter(({ primary }) => primary).map(({ id }) => id)).toEqual([
    'answer.correct',
    'abstention.recall',
    'cost.money',
    'time.total',
  ]);
});

test('compares every pair before it recommends', () => {
  const cases = Array.from(
    { length: 200 },
    (_, index) => ({ ...CASES[0], id: `c${index}`, question: `Q${index}?` }) as EvaluationCase,
  );
  const arm = (name: string, right: number, tokens: number) =>
    createArm(name, (index) => index < right, tokens, cases);
  const report = assembleReport({
    header: createHeader(cases.length),
    cases,
    arms: [arm('tool', 150, 100), arm('always', 150, 70), arm('first', 151, 110), arm('never', 50, 10)],
    metrics: allMetrics,
  });
  expect(report.comparisons.map(({ baseline, arm }) => `${baseline} ${arm}`)).toEqual([
    'tool always',
    'tool first',
    'tool never',
    'always first',
    'always never',
    'first never',
  ]);
  expect(report.decision).toEqual({ kind: 'use', arms: ['always'], needed: null });
});

test('reports gains and losses of an equivalent arm as a choice', () => {
  const timed = (name: string, tokens: number, total: number): ArmResults => {
    const arm = createArm(name, (index) => index < 60, tokens);
    const withTime = (run: CaseRun) => ({ ...run, timesMs: { ...run.timesMs, total } });
    return { ...arm, runs: new Map(Array.from(arm.runs, ([id, runs]) => [id, runs.map(withTime)])) };
  };
  const report = createReport(timed('slow', 100, 900), timed('dear', 200, 300));
  expect(report.decision).toEqual({ kind: 'weigh', arms: ['slow', 'dear'], needed: null });
});

test('tests primary metrics only', () => {
  const cases = CASES.map((item, index) => (index < 20 ? { ...item, needsRetrieval: false } : item));
  const searching = (name: string, searches: number): ArmResults => {
    const arm = createArm(name, (index) => index < 60);
    const runs = Array.from(arm.runs, ([id, [run]]): [string, CaseRun[]] => [
      id,
      [{ ...(run as CaseRun), searches }],
    ]);
    return { ...arm, runs: new Map(runs) };
  };
  const report = assembleReport({
    header: createHeader(cases.length),
    cases,
    arms: [searching('tool', 0), searching('always', 1)],
    metrics: allMetrics,
  });
  expect(report.arms[1]?.metrics['decision.over']).toMatchObject({ value: 1 });
  expect(report.comparisons[0]?.metrics.map(({ metric }) => metric)).toEqual([
    'answer.correct',
    'cost.tokens',
  ]);
});

test('recommends the first arm if the other one is worse', () => {
  const report = createReport(
    createArm('tool', (index) => index < 60),
    createArm('never', () => false, 10),
  );
  expect(report.decision).toMatchObject({ kind: 'use', arms: ['tool'] });
  expect(report.verdict[1]).toMatch(
    /^“never” has 60 fewer correct answers than “tool” on 80 cases .*: worse, p < 0\.001\.$/,
  );
});

test('finds equal arms equivalent on eighty cases', () => {
  const arm = createArm('tool', (index) => index % 3 > 0);
  const report = createReport(arm, { ...arm, name: 'again' });
  for (const comparison of report.comparisons[0]?.metrics ?? []) {
    expect(comparison).toMatchObject({
      difference: 0,
      p: null,
      adjustedP: null,
      conclusion: 'equivalent',
      better: [],
      worse: [],
    });
  }
  expect(report.decision?.kind).toBe('either');
  expect(report.verdict[1]).toContain('“again” has as many correct answers as “tool” on 80 cases (');
});

test('summarizes the proven result in one line', () => {
  const right = (count: number) => (index: number) => index < count;
  const found = (...arms: ArmResults[]) => formatFinding(createReport(...arms));
  const tool = createArm('tool', right(60));
  expect(found(tool)).toBe('“tool” answers 60 of 80 questions correctly');
  expect(found(tool, createArm('always', right(72)))).toBe('Use “always”');
  expect(found(tool, createArm('never', right(20)), createArm('once', right(10)))).toBe('Use “tool”');
  expect(found(tool, createArm('always', right(64)))).toBe('Undecided between “tool” and “always”');
  expect(found(tool, createArm('first', right(60)))).toBe('Use any of “tool” and “first”');
  expect(formatFinding({ ...createReport(tool, tool), decision: null })).toBe(
    'No case defines a correct answer',
  );
});

test('reports a single arm with interval and tags', () => {
  const report = createReport(createArm('tool', (index) => index % 2 === 0));
  expect(report.kind).toBe('evaluation');
  expect(report.verdict[0]).toBe(
    '“tool” answers 40 of 80 questions correctly (50%, 95% interval 39 to 61%).',
  );
  expect(report.arms[0]?.tags.even).toMatchObject({ n: 40, metrics: { 'answer.correct': 1 } });
  expect(report.arms[0]?.tags.odd).toMatchObject({ n: 40, metrics: { 'answer.correct': 0 } });
});

test('gives the reason for a metric without data', () => {
  const [arm] = createReport(createArm('tool', () => true)).arms;
  expect(arm?.metrics['decision.over']).toEqual({
    status: 'no data',
    reason: 'no case has needsRetrieval: false',
  });
  expect(arm?.metrics['abstention.precision']).toEqual({
    status: 'no data',
    reason: 'no answer abstained',
  });
});

test('counts failed runs as wrong answers and warns about them', () => {
  const arm = createArm('tool', () => true);
  const runs = new Map(arm.runs).set('c0', [createRun({ error: createRunError() })]);
  const report = createReport({ ...arm, runs });
  expect(report.arms[0]).toMatchObject({
    errors: 1,
    metrics: { 'answer.correct': { value: 79 / 80 }, 'cost.tokens': { n: 79 } },
  });
  expect(report.notes).toContain('1 run of “tool” failed.');
});

test('averages the repeats of a case', () => {
  const arm = createArm('tool', () => true);
  const right = createRun({ answer: 'blue' });
  const wrong = createRun({ answer: 'red' });
  const often = new Map(
    CASES.map(({ id }, index) => [id, index < 10 ? [wrong, wrong, right] : [right, wrong, right]]),
  );
  const report = createReport(arm, { ...arm, name: 'shaky', runs: often });
  expect(report.arms[1]?.metrics['answer.correct']).toMatchObject({
    n: 80,
    value: expect.closeTo((10 / 3 + (70 * 2) / 3) / 80, 9),
  });
  expect(findCorrect(report)).toMatchObject({ test: 'permutation', n: 80, conclusion: 'worse' });
  expect(findCorrect(report)?.worse).toHaveLength(80);
});

test('measures pass^k and lists flaky cases over repeats', () => {
  const arm = createArm('tool', () => true);
  const [right, wrong] = [createRun({ answer: 'blue' }), createRun({ answer: 'red' })];
  const runs = new Map(
    CASES.map(({ id }, index) => [
      id,
      index < 10 ? [wrong, right, wrong] : index < 30 ? [wrong, wrong, wrong] : [right, right, right],
    ]),
  );
  const [shaky] = createReport({ ...arm, runs }).arms;
  const measured = (id: string) => shaky?.metrics[`repeat.${id}`];
  expect(measured('pass_all_k')).toMatchObject({ value: 50 / 80, n: 80 });
  expect(shaky?.flaky).toHaveLength(10);
  expect(shaky?.flaky[0]).toEqual({ id: 'c0', right: 1, runs: 3 });
  expect(createReport(arm).arms[0]?.metrics['repeat.pass_all_k']).toEqual({
    status: 'no data',
    reason: expect.stringContaining('--repeat'),
  });
});

test('keeps p values and intervals within bounds for any arms', () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 80, maxLength: 80 }),
      fc.array(fc.boolean(), { minLength: 80, maxLength: 80 }),
      (a, b) => {
        const report = createReport(
          createArm('a', (index) => a[index] === true),
          createArm('b', (index) => b[index] === true, 120),
        );
        for (const { p, adjustedP, difference, interval } of report.comparisons[0]?.metrics ?? []) {
          if (p !== null) expect(p).toBeGreaterThan(0);
          expect(adjustedP ?? 1).toBeGreaterThanOrEqual(p ?? 0);
          if (interval !== null) expect(difference).toBeGreaterThanOrEqual(interval[0] - 1e-9);
        }
      },
    ),
    { numRuns: 10 },
  );
});

test('proves and recommends nothing on five cases', () => {
  const few = CASES.slice(0, 5);
  const report = assembleReport({
    header: createHeader(5),
    cases: few,
    arms: [
      createArm('all stages', () => true, 100, few),
      createArm('no vectors', () => false, 900, few),
      createArm('no threshold', () => true, 100, few),
    ],
    metrics: allMetrics,
  });
  expect(new Set(report.comparisons[0]?.metrics.map(({ conclusion }) => conclusion))).toEqual(
    new Set(['too few']),
  );
  expect(report.decision).toMatchObject({
    kind: 'undecided',
    arms: ['all stages', 'no vectors', 'no threshold'],
  });
  expect(report.verdict[1]).toContain('5 fewer correct answers than “all stages” on 5 cases');
});

const checkBound = (text: string, report: ReportData) => checkGate(parseGate(text), report, new Map());

test('checks the bound of a gate in the named arm', () => {
  const report = createReport(
    createArm('tool', (index) => index < 60),
    createArm('always', () => true),
  );
  expect(checkBound('answer.correct>=0.75', report)).toMatchObject({ passed: true, arm: 'tool' });
  expect(checkBound('answer.correct >= 0.76', report)).toMatchObject({
    passed: false,
    line: 'answer.correct >= 0.76: 0.750 on 80 cases',
  });
  expect(checkBound('always: answer.correct>=1', report)?.passed).toBe(true);
  expect(checkBound('cost.tokens<=100', report)?.passed).toBe(true);
  expect(checkBound('cost.tokens<=99', report)?.passed).toBe(false);
  expect(() => checkBound('other: answer.correct>=1', report)).toThrow('Unknown arm');
});

test('fails a gate on a metric without data', () => {
  const result = checkBound(
    'abstention.precision>=0',
    createReport(createArm('tool', () => true)),
  ) as GateResult;
  expect(result).toMatchObject({
    passed: false,
    line: expect.stringContaining('no data, no answer abstained'),
  });
  expect(() => assertGatesPassed([result])).toThrow('1 of 1 gate failed.');
  expect(() => assertGatesPassed([{ ...result, passed: true }])).not.toThrow();
});

test('rejects invalid gates', () => {
  for (const text of [
    '',
    'answer.correct',
    'answer.correct=>1',
    'answer.correct>=NaN',
    'answer.correct>0.5',
    'no-worse-than',
  ]) {
    expect(() => parseGate(text)).toThrow('Invalid gate');
  }
  expect(() => parseGate('answer.corect>=1')).toThrow('Unknown metric');
});

test('no-worse-than fails on a proven loss unless it is within the margin', () => {
  const before = createReport(createArm('tool', (index) => index < 60));
  const baselines = new Map([['base.json', parseReport(JSON.parse(JSON.stringify(before)), 'base.json')]]);
  const check = (right: number, text = 'no-worse-than base.json') =>
    checkGate(parseGate(text), createReport(createArm('tool', (index) => index < right)), baselines);
  expect(check(60)).toMatchObject({
    passed: true,
    line: 'no worse than base.json: answer.correct unchanged, no loss above 0.05',
  });
  // Four of four cases got worse: one-sided p = 1/16.
  expect(check(56)).toMatchObject({ passed: true, line: expect.stringContaining('no loss is proven') });
  expect(check(55)).toMatchObject({
    passed: false,
    line: 'no worse than base.json: answer.correct 0.063 lower, a loss is proven (p = 0.031)',
  });
  expect(check(55, 'no-worse-than base.json within 0.2')).toMatchObject({ passed: true });
  expect(check(40, 'no-worse-than base.json within 0.2')).toMatchObject({ passed: false });
});

test('rejects a baseline of another format', () => {
  expect(() => parseReport({ a: 1 }, 'base.json')).toThrow('base.json is not a report of this program');
});

test('leaves metrics with too few differing cases out of the correction', () => {
  const correct = findCorrect(
    createReport(
      createArm('tool', (index) => index < 60),
      createArm('always', (index) => index < 67),
    ),
  );
  // Seven of seven: p = 2 / 2^7. No other metric differs.
  expect(correct?.p).toBeCloseTo(2 / 2 ** 7, 12);
  expect(correct?.adjustedP).toBeCloseTo(2 / 2 ** 7, 12);
});

test('treats the turns of a conversation as one unit', () => {
  const cases = CASES.map((item, index) => ({ ...item, conversation: `talk ${Math.floor(index / 16)}` }));
  const report = assembleReport({
    header: createHeader(cases.length),
    cases,
    arms: [createArm('tool', () => false), createArm('always', () => true)],
    metrics: allMetrics,
  });
  expect(report.header.conversations).toBe(5);
  expect(findCorrect(report)).toMatchObject({ n: 80, difference: 1, conclusion: 'too few' });
  expect(report.arms[1]?.metrics['answer.correct']).toMatchObject({
    interval: [expect.closeTo(0.57, 2), 1],
  });
});
