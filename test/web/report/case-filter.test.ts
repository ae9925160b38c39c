import { expect, test } from 'vitest';
import type { CaseRun } from '../../../src/evaluation/report/case-run.ts';
import type { ReportCase, ReportData } from '../../../src/evaluation/report/report-data.ts';
import { type CaseCriteria, EMPTY_CRITERIA, filterCases } from '../../../src/web/report/case-filter.ts';
import { syntheticReport } from '../../evaluation/report/synthetic-report.ts';

const report = syntheticReport({ cases: 24, arms: ['tool', 'always'] });

function find(criteria: Partial<CaseCriteria>, data: ReportData = report): ReportCase[] {
  return filterCases(data, { ...EMPTY_CRITERIA, ...criteria });
}

function scores({ results }: ReportCase, metric = 'answer.correct') {
  return [results.tool?.metrics[metric] ?? -1, results.always?.metrics[metric] ?? -1] as const;
}

/** The report of one arm whose only case has one run with these fields. */
function singleRun(run: Partial<CaseRun>): ReportData {
  const single = syntheticReport({ cases: 1, arms: ['tool'] });
  Object.assign(single.cases[0]?.results.tool?.runs[0] ?? {}, run);
  return single;
}

test('all cases meet the initial criteria', () => {
  expect(find({})).toEqual(report.cases);
});

test('finds the cases on which arms differ, in either direction', () => {
  const better = report.cases.filter((item) => scores(item)[1] > scores(item)[0]);
  const worse = report.cases.filter((item) => scores(item)[1] < scores(item)[0]);
  expect(better.length * worse.length).toBeGreaterThan(0);
  expect(find({ difference: 'better:always' })).toEqual(better);
  expect(find({ difference: 'worse:always' })).toEqual(worse);
  expect(find({ difference: 'differ' })).toHaveLength(better.length + worse.length);
});

test('finds outcomes of any arm or of one', () => {
  expect(find({ outcome: 'wrong' })).toEqual(report.cases.filter((item) => scores(item).includes(0)));
  expect(find({ outcome: 'correct', arm: 'tool' })).toEqual(
    report.cases.filter((item) => scores(item)[0] === 1),
  );
});

test('finds cases by tag and by words of the id, question or answer', () => {
  const [first, second] = report.cases;
  expect(find({ tag: 'near miss' }).every(({ tags }) => tags.includes('near miss'))).toBe(true);
  expect(find({ text: first?.id.toUpperCase() ?? '' })).toEqual([first]);
  expect(find({ text: second?.question ?? '' })).toContain(second);
  expect(find({ text: second?.results.always?.runs[0]?.answer ?? '' })).toContain(second);
  expect(find({ text: 'nowhere' })).toEqual([]);
});

test('finds cases by what a run did', () => {
  const error = {
    errorType: 'api_error',
    message: '',
    userMessage: '',
    retryAfter: null,
    recoverable: true,
  } as const;
  const weak = {
    marker: '1',
    verdict: 'unsupported',
    chunkId: 'c',
    title: '',
    url: '',
    score: 1,
    excerpt: '',
    expected: null,
  } as const;
  const examples: [CaseCriteria['outcome'], Partial<CaseRun>][] = [
    ['abstained', { abstained: true }],
    ['unsupported', { citations: [weak] }],
    ['error', { error }],
  ];
  for (const [outcome, run] of examples) {
    expect(find({ outcome }, singleRun(run)), outcome).toHaveLength(1);
  }
  const fine = singleRun({ abstained: false, searches: 1, citations: [] });
  for (const [outcome] of examples) expect(find({ outcome }, fine), outcome).toHaveLength(0);
});
