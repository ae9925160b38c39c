import { expect, test } from 'vitest';
import { checkedSentenceSchema } from '../../src/domain/checked-sentence.ts';
import { migrateRecord } from '../../src/domain/migrate-record.ts';
import { migrateReport, REPORT_FORMAT, reportDataSchema } from '../../src/evaluation/report/report-data.ts';
import { runOutputsSchema } from '../../src/tape/run-outputs.ts';
import { syntheticReport } from '../evaluation/report/synthetic-report.ts';

const evidence = { chunkId: 'c1', start: 0, end: 10, text: 'A process.' };

test('reads a checked sentence with the field names of version 0.2', () => {
  const sentence = {
    ...{ start: 0, end: 10, text: 'A process.', refs: ['1'], verdict: 'weak', probability: 0.4 },
    borneOutBy: evidence,
    unborne: [{ start: 2, end: 9 }],
  };
  expect(checkedSentenceSchema.parse(migrateRecord(sentence))).toMatchObject({
    evidence,
    verdict: 'supported',
    reason: null,
  });
});

test('reads the outputs of a tape of format 2', () => {
  const turn = {
    ...{ question: 'What is a node?', model: 'm', answer: 'A process.' },
    sentences: [{ text: 'A process.', verdict: 'weak', unborne: ['process'] }],
  };
  expect(runOutputsSchema.parse({ turns: [turn] }).turns[0]?.sentences).toEqual([
    { text: 'A process.', verdict: 'supported' },
  ]);
});

test('reads a report of format 2', () => {
  const report = syntheticReport({ cases: 4 });
  const text = JSON.stringify(report).replaceAll('"reason":null', '"probability":0.4,"unborne":[]');
  const old: unknown = JSON.parse(text.replace(REPORT_FORMAT, 'citeloop-evaluation/2'));
  expect(text).toContain('"unborne"');
  expect(reportDataSchema.parse(migrateReport(old))).toEqual({ ...report, decision: null, comparisons: [] });
});
