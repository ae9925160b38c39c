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

test('classifies each turn by the arm that decided otherwise', () => {
  const report = aReport(tool, always, never);
  const kindsOf = (arm: string) => report.cases.map(({ results }) => results[arm]?.search);
  expect(kindsOf('tool')).toEqual(['needed', 'idle', 'idle', 'harmful', 'missed', 'spared', 'spared']);
  expect(kindsOf('always')).toEqual(['needed', 'idle', 'idle', 'harmful', 'needed', 'idle', 'harmful']);
  expect(report.searchWorth.map(({ arm }) => arm)).toEqual(['tool', 'always', 'never']);
  expect(report.searchWorth[0]?.kinds[1]).toEqual({ kind: 'idle', turns: 2, tokens: 200 });
});

test('leaves turns unknown on which all arms decide alike', () => {
  const report = aReport(tool, always);
  const [ofTool, ofAlways] = report.searchWorth;
  expect(ofTool?.unknown).toBe(4);
  expect(ofTool?.kinds.map(({ kind, turns }) => [kind, turns])).toEqual([
    ['missed', 1],
    ['spared', 2],
  ]);
  expect(ofAlways?.unknown).toBe(4);
});

test('compares only arms that differ in their policy alone', () => {
  const wide = { ...never, settings: { ...never.settings, topK: 9 } };
  expect(aReport(tool, wide).searchWorth).toEqual([]);
});

test('classifies small talk as idle or spared, and gives failed turns no cost', () => {
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
  expect(report.searchWorth[1]?.kinds).toEqual([{ kind: 'idle', turns: 1, tokens: null }]);
});
