import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EvaluationCase } from '../../../src/evaluation/cases/evaluation-case.ts';
import { allMetrics } from '../../../src/evaluation/metrics/all-metrics.ts';
import { type ArmResults, assembleReport } from '../../../src/evaluation/report/assemble-report.ts';
import type { CaseRun } from '../../../src/evaluation/report/case-run.ts';
import { formatPValue } from '../../../src/evaluation/report/format-metric.ts';
import { formatFinding } from '../../../src/evaluation/report/format-verdict.ts';
import { summarizeGates } from '../../../src/evaluation/report/gate-results.ts';
import { assertGatesPassed, checkGate, parseGate } from '../../../src/evaluation/report/gates.ts';
import { renderJunit } from '../../../src/evaluation/report/render-junit.ts';
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

test('parses a report of the previous format and drops its removed fields', () => {
  const report = createReport(
    createArm('tool', (index) => index < 60),
    createArm('always', (index) => index < 66, 190),
  );
  const previous = {
    ...report,
    format: 'citeloop-evaluation/2',
    calibrations: [{ arm: 'tool', current: 0.3, best: null, n: 0, points: [] }],
    comparisons: report.comparisons.map((comparison) => ({
      ...comparison,
      metrics: comparison.metrics.map((metric) => ({
        ...metric,
        effect: { name: 'g', value: null, size: 'none' },
      })),
    })),
    searchWorth: [{ arm: 'tool', kinds: [], unknown: 1, searched: null, notSearched: null, verdict: [] }],
  };
  expect(parseReport(JSON.parse(JSON.stringify(previous)), 'old.json')).toEqual(report);
});

test('recommends an arm that answers more, with its price', () => {
  const report = createReport(
    createArm('tool', (index) => index < 60),
    createArm('always', (index) => index < 72, 190),
  );
  expect(findCorrect(report)).toMatchObject({ test: 'mcnemar', n: 80, conclusion: 'better', worse: [] });
  expect(findCorrect(report)?.p).toBeCloseTo(2 / 2 ** 12, 12);
  expect(findCorrect(report)?.better).toHaveLength(12);
  expect(report.decision).toEqual({ kind: 'take', arms: ['always'], needed: null });
  expect(report.verdict[0]).toBe(
    'Use “always”: it answers more questions correctly than “tool” (p < 0.001). Worse: tokens (1.9 times).',
  );
  expect(report.verdict[1]).toBe(
    '“always” has 12 more correct answers than “tool” on 80 cases (only “always” right: 12, only “tool” right: 0): better, p < 0.001. It uses 1.9 times the tokens.',
  );
});

test('claims neither a difference nor equivalence that is not proven', () => {
  const report = createReport(
    createArm('tool', (index) => index < 60, 200),
    createArm('always', (index) => index > 18, 100),
  );
  expect(report.decision).toMatchObject({ kind: 'undecided', arms: ['always'] });
  expect(report.decision?.needed).toBeGreaterThan(1000);
  expect(report.verdict[0]).toMatch(
    /^Undecided between “tool” and “always”\. About \d+ more cases like these would decide it\.$/,
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
  for (const { metrics, verdict } of report.comparisons) {
    const correct = metrics.find(({ metric }) => metric === 'answer.correct');
    expect(verdict[0]).toContain(formatPValue(correct?.adjustedP ?? null));
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
  const dearer = createReport(cheap('small', 100, 0.001), cheap('large', 100, 0.01));
  expect(dearer.decision).toEqual({ kind: 'keep', arms: ['small'], needed: null });
  expect(dearer.verdict[0]).toBe(
    'Keep “small”: no other arm answers as many questions correctly without being worse elsewhere.',
  );
  const cheaper = createReport(cheap('large', 100, 0.01), cheap('small', 100, 0.001));
  expect(cheaper.verdict[0]).toBe(
    'Use “small”: it answers as many questions correctly as “large”, within 5 points. Better: cost (0.1 times).',
  );
  // Money takes precedence over tokens.
  expect(createReport(cheap('long', 200, 0.01), cheap('short', 100, 0.01)).verdict[0]).toBe(
    'Use either: “short” answers as many questions correctly as “long”, within 5 points, and no other difference is proven.',
  );
});

test('reports gains and losses of an equivalent arm as a trade-off', () => {
  const cases = CASES.map((item, index) => (index < 20 ? { ...item, needsRetrieval: false } : item));
  const searching = (name: string, tokens: number, searches: number): ArmResults => {
    const arm = createArm(name, (index) => index < 60, tokens);
    return {
      ...arm,
      runs: new Map(Array.from(arm.runs, ([id, [run]]) => [id, [{ ...(run as CaseRun), searches }]])),
    };
  };
  const report = assembleReport({
    header: createHeader(cases.length),
    cases,
    arms: [searching('tool', 200, 0), searching('always', 100, 1)],
    metrics: allMetrics,
  });
  expect(report.comparisons[0]?.standing).toEqual({
    answers: 'equivalent',
    gains: ['cost.tokens'],
    losses: ['decision.over'],
    undecided: [],
  });
  expect(report.verdict[0]).toBe(
    'Trade-off: “always” answers as many questions correctly as “tool”, within 5 points. Better: tokens (0.5 times). Worse: over-search (0.000 to 1.000).',
  );
});

test('lists undecided metrics in the recommendation', () => {
  const cases = CASES.map((item, index) => (index < 2 ? { ...item, needsRetrieval: false } : item));
  const searching = (name: string, tokens: number, searches: number): ArmResults => {
    const arm = createArm(name, (index) => index < 60, tokens);
    const runs = Array.from(arm.runs, ([id, [run]]): [string, CaseRun[]] => [
      id,
      [{ ...(run as CaseRun), searches }],
    ]);
    return { ...arm, runs: new Map(runs) };
  };
  const report = assembleReport({
    header: createHeader(cases.length),
    cases,
    arms: [searching('tool', 200, 0), searching('always', 100, 1)],
    metrics: allMetrics,
  });
  expect(report.comparisons[0]?.standing.undecided).toEqual(['decision.over']);
  expect(report.verdict[0]).toMatch(
    /^Use “always”: .* Better: tokens \(0\.5 times\)\. Undecided: over-search\.$/,
  );
});

test('counts a gate over several metrics once', () => {
  const line = { arm: 'tool', line: 'x' };
  const failed = [
    { ...line, gate: 'no-worse-than a.json', passed: false },
    { ...line, gate: 'no-worse-than a.json', passed: true },
    { ...line, gate: 'answer.correct>=0.5', passed: true },
  ];
  expect(() => assertGatesPassed(failed)).toThrow('1 of 2 gates failed.');
  expect(summarizeGates([...failed, ...failed.slice(1, 2)]).map(({ line }) => line)).toEqual([
    'x',
    'no-worse-than a.json: 2 metrics passed',
    'x',
  ]);
});

test('keeps the baseline if the other arm is worse', () => {
  const report = createReport(
    createArm('tool', (index) => index < 60),
    createArm('never', () => false, 10),
  );
  expect(report.decision?.kind).toBe('keep');
  expect(report.verdict[0]).toMatch(/^Keep “tool”: /);
  expect(report.verdict[1]).toMatch(
    /^“never” has 60 fewer correct answers than “tool” on 80 cases .*: worse, p < 0\.001\. .*0\.1 times the tokens\.$/,
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
  expect(found(tool, createArm('always', right(72)))).toBe(
    '“always” answers more questions correctly than “tool”',
  );
  expect(found(tool, createArm('never', right(20)), createArm('once', right(10)))).toBe(
    '“never” and “once” answer fewer questions correctly than “tool”',
  );
  expect(found(tool, createArm('always', right(72)), createArm('never', right(20)))).toBe(
    '“always” answers more questions correctly than “tool”; “never” answers fewer questions correctly than “tool”',
  );
  expect(found(tool, createArm('always', right(64)))).toBe('Undecided between “tool” and “always”');
  expect(found(tool, createArm('first', right(60)))).toBe(
    '“first” answers as many questions correctly as “tool”',
  );
  expect(
    found(tool, createArm('first', right(60)), createArm('never', right(0)), createArm('always', right(64))),
  ).toBe(
    '“never” answers fewer questions correctly than “tool”; Undecided between “tool”, “first” and “always”',
  );
});

test('says that no case can be judged', () => {
  const report = createReport(
    createArm('tool', (index) => index < 60),
    createArm('always', (index) => index < 61),
  );
  const [comparison] = report.comparisons;
  const standing = { answers: null, gains: [], losses: [], undecided: [] };
  const unjudged = { ...report, comparisons: [{ ...comparison, metrics: [], standing }] } as ReportData;
  expect(formatFinding(unjudged)).toBe('No case defines a correct answer');
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
  expect(arm?.metrics['answer.f1']).toEqual({ status: 'no data', reason: 'no case has expectedAnswer' });
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
  expect(findCorrect(report)).toMatchObject({ test: 'swaps', n: 80, conclusion: 'worse' });
  expect(findCorrect(report)?.worse).toHaveLength(80);
});

test('measures pass^k and flaky cases over repeats', () => {
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
  expect(measured('flaky')).toMatchObject({ value: 10 / 80 });
  expect(shaky?.flaky).toHaveLength(10);
  expect(shaky?.flaky[0]).toEqual({ id: 'c0', right: 1, runs: 3 });
  expect(createReport(arm).arms[0]?.metrics['repeat.flaky']).toEqual({
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
  expect(report.decision).toMatchObject({ kind: 'undecided', arms: ['no vectors', 'no threshold'] });
  expect(report.verdict[1]).toContain('5 fewer correct answers than “all stages” on 5 cases');
});

const checkBound = (text: string, report: ReportData) => checkGate(parseGate(text), report, new Map())[0];

test('checks the bound of a gate in the named arm', () => {
  const report = createReport(
    createArm('tool', (index) => index < 60),
    createArm('always', () => true),
  );
  expect(checkBound('answer.correct>=0.75', report)).toMatchObject({ passed: true, arm: 'tool' });
  expect(checkBound('answer.correct > 75%', report)).toMatchObject({
    passed: false,
    line: 'answer.correct > 0.75: 0.750 on 80 cases',
  });
  expect(checkBound('always: answer.correct>=1', report)?.passed).toBe(true);
  expect(checkBound('cost.tokens<=100', report)?.passed).toBe(true);
  expect(checkBound('cost.tokens<100', report)?.passed).toBe(false);
  expect(() => checkBound('other: answer.correct>=1', report)).toThrow('Unknown arm');
});

test('fails a gate on a metric without data', () => {
  const result = checkBound('abstention.f1>=0', createReport(createArm('tool', () => true))) as GateResult;
  expect(result).toMatchObject({
    passed: false,
    line: expect.stringContaining('no data, every case is answerable'),
  });
  expect(() => assertGatesPassed([result])).toThrow('1 of 1 gate failed.');
  expect(() => assertGatesPassed([{ ...result, passed: true }])).not.toThrow();
});

test('rejects invalid gates', () => {
  for (const text of ['', 'answer.correct', 'answer.correct=>1', 'answer.correct>=NaN', 'no-worse-than']) {
    expect(() => parseGate(text)).toThrow('Invalid gate');
  }
  expect(() => parseGate('answer.corect>=1')).toThrow('Unknown metric');
});

test('no-worse-than fails on a proven loss and on one beyond the tolerance', () => {
  const before = createReport(createArm('tool', (index) => index < 60));
  const failing = (report: ReportData, text = 'no-worse-than base.json') =>
    checkGate(
      parseGate(text),
      report,
      new Map([['base.json', parseReport(JSON.parse(JSON.stringify(before)), 'base.json')]]),
    )
      .filter(({ passed }) => !passed)
      .map(({ line }) => line);
  expect(failing(before)).toEqual([]);
  expect(failing(createReport(createArm('tool', (index) => index < 59)))).toEqual([]);
  expect(failing(createReport(createArm('tool', (index) => index < 57)))).toEqual([
    expect.stringContaining('answer.correct no worse than base.json: 0.713, -0.037'),
  ]);
  expect(
    failing(createReport(createArm('tool', (index) => index < 57)), 'no-worse-than base.json within 0.1'),
  ).toEqual([]);
  expect(
    failing(createReport(createArm('tool', (index) => index < 40)), 'no-worse-than base.json within 0.9'),
  ).not.toEqual([]);
});

test('rejects a baseline of another format', () => {
  expect(() => parseReport({ a: 1 }, 'base.json')).toThrow('base.json is not a report of this program');
});

test('renders JUnit tests for cases and gates', () => {
  const arm = createArm('tool', (index) => index > 0);
  const runs = new Map(arm.runs)
    .set('c1', [createRun({ error: createRunError() })])
    .set('c2', [createRun({ answer: '<blue> & "red"\u0007' })]);
  const report = createReport({ ...arm, runs });
  const xml = renderJunit({ ...report, gates: [{ gate: 'g', arm: 'tool', passed: false, line: 'a < b' }] });
  expect(xml).toContain('<testsuite name="tool" tests="80" failures="1" errors="1" skipped="0"');
  expect(xml).toContain('<failure message="Expected: blue">Question: Question 0?\nAnswer: It is red.');
  expect(xml).toContain(
    '<testcase classname="gates" name="tool: a &lt; b"><failure message="a &lt; b">g</failure></testcase>',
  );
  expect(xml).not.toContain('\u0007');
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
