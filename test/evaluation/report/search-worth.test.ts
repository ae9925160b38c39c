import { expect, test } from 'vitest';
import type { EvaluationCase } from '../../../src/evaluation/cases/evaluation-case.ts';
import { allMetrics } from '../../../src/evaluation/metrics/all-metrics.ts';
import { type ArmResults, assembleReport } from '../../../src/evaluation/report/assemble-report.ts';
import type { Arm, ReportData } from '../../../src/evaluation/report/report-data.ts';
import { aHeader, theSettings } from '../a-report.ts';
import { anError, aRun } from '../a-run.ts';

type Policy = Arm['settings']['policy'];
/** Whether it searched, and whether the answer was right. */
type Turn = readonly [searched: boolean, right: boolean];

const [S, N] = [true, false];
const CASES: EvaluationCase[] = [
  'needed',
  'idle',
  'useless',
  'harmful',
  'missed',
  'spared',
  'harm spared',
].map((id) => ({ id, question: `${id}?`, expectedPhrases: ['blue'] }));

function anArm(policy: Policy, turns: readonly Turn[], changes: Partial<Arm['settings']> = {}): ArmResults {
  return {
    name: policy,
    settings: { ...theSettings, policy, ...changes },
    changed: { policy },
    runs: new Map(
      turns.map(([searched, right], index) => [
        (CASES[index] as EvaluationCase).id,
        [
          aRun({
            answer: right ? 'blue' : 'red',
            searches: Number(searched),
            cost: searched ? 0.003 : 0.001,
            tokens: searched
              ? { prompt: 300, completion: 0, total: 300 }
              : { prompt: 100, completion: 0, total: 100 },
            timesMs: { firstToken: null, retrieval: 0, generation: 0, total: searched ? 50 : 20 },
          }),
        ],
      ]),
    ),
  };
}

function aReport(...arms: ArmResults[]): ReportData {
  return assembleReport({ header: aHeader(CASES.length), cases: CASES, arms, metrics: allMetrics });
}

const tool = anArm('tool', [
  [S, true],
  [S, true],
  [S, false],
  [S, false],
  [N, false],
  [N, true],
  [N, true],
]);
const never = anArm('never', [
  [N, false],
  [N, true],
  [N, false],
  [N, true],
  [N, false],
  [N, true],
  [N, true],
]);
const always = anArm('always', [
  [S, true],
  [S, true],
  [S, false],
  [S, false],
  [S, true],
  [S, true],
  [S, false],
]);

test('each turn is needed, idle, harmful, missed or spared by the arm that decided otherwise', () => {
  const report = aReport(tool, always, never);
  const kindsOf = (arm: string) => report.cases.map(({ results }) => results[arm]?.search);
  expect(kindsOf('tool')).toEqual(['needed', 'idle', 'idle', 'harmful', 'missed', 'spared', 'spared']);
  expect(kindsOf('always')).toEqual(['needed', 'idle', 'idle', 'harmful', 'needed', 'idle', 'harmful']);
  expect(report.searchWorth.map(({ arm }) => arm)).toEqual(['tool', 'always', 'never']);
  expect(report.searchWorth[0]?.kinds[1]).toEqual({
    kind: 'idle',
    turns: 2,
    tokens: 200,
    money: expect.closeTo(0.002, 9),
    ms: 30,
  });
  expect(report.searchWorth[0]).toMatchObject({
    searched: { n: 4, difference: 0, conclusion: 'too few' },
    notSearched: { n: 3, difference: 0 },
  });
  expect(report.searchWorth[0]?.verdict[0]).toMatch(
    /^“tool” searched in 4 turns: 1 needed it, 2 came to the same without it, 1 was right without it alone/,
  );
});

test('without an arm that never searches, only the turns in which the arms decide otherwise are known', () => {
  const report = aReport(tool, always);
  const [ofTool, ofAlways] = report.searchWorth;
  expect(ofTool).toMatchObject({ unknown: 4, searched: null, notSearched: { n: 3 } });
  expect(ofTool?.kinds.map(({ kind, turns }) => [kind, turns])).toEqual([
    ['missed', 1],
    ['spared', 2],
  ]);
  expect(ofAlways).toMatchObject({ unknown: 4, searched: { n: 3 }, notSearched: null });
});

test('arms that differ in more than their policy are not held against each other', () => {
  const wide = { ...never, settings: { ...never.settings, topK: 9 } };
  expect(aReport(tool, wide).searchWorth).toEqual([]);
});

test('small talk that needs no search is idle or spared, and a failed turn has no price', () => {
  const cases: EvaluationCase[] = [{ id: 'hello', question: 'Hello!', needsRetrieval: false }];
  const talk = (policy: Policy, searches: number, error = false): ArmResults => ({
    name: policy,
    settings: { ...theSettings, policy },
    changed: {},
    runs: new Map([['hello', [aRun({ searches, error: error ? anError() : null })]]]),
  });
  const report = assembleReport({
    header: aHeader(1),
    cases,
    arms: [talk('tool', 0, true), talk('always', 1)],
    metrics: allMetrics,
  });
  expect(report.cases[0]?.results).toMatchObject({ tool: { search: 'spared' }, always: { search: 'idle' } });
  expect(report.searchWorth[1]?.kinds).toEqual([
    { kind: 'idle', turns: 1, tokens: null, money: null, ms: null },
  ]);
});
