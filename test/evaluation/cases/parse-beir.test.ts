import { expect, test } from 'vitest';
import { matchesSource } from '../../../src/evaluation/cases/expected-source.ts';
import { parseBeirRows, toBeirCases, toCorpusFileName } from '../../../src/evaluation/cases/parse-beir.ts';

const jsonl = (...rows: object[]) => rows.map((row) => JSON.stringify(row)).join('\n');

test('imports queries with relevant documents and skips the others', () => {
  const queries = jsonl({ _id: 'q1', text: 'Why?' }, { _id: 'q2', text: 'How?' });
  const qrels = 'query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq1\td3\t2\n';
  expect(toBeirCases(parseBeirRows(queries, 'queries.jsonl'), qrels)).toEqual([
    {
      id: 'q1',
      question: 'Why?',
      expectedSources: ['d1.txt', 'd3.txt'],
      answerable: true,
      needsRetrieval: true,
    },
  ]);
});

test('gives every corpus id a unique file name that matches its document', () => {
  const ids = [
    'd1',
    'Normans#0',
    'https://docs.example/a#b',
    'https://docs.example/a b',
    'x'.repeat(300),
    '../etc',
  ];
  const names = ids.map(toCorpusFileName);
  expect(new Set(names).size).toBe(ids.length);
  for (const name of names) expect(matchesSource(name, `file:///sets/one/corpus.jsonl/${name}`)).toBe(true);
  expect(names[0]).toBe('d1.txt');
});

test('reports file and line of invalid rows', () => {
  expect(() => parseBeirRows('{"_id":"a","text":"x"}\n{"_id":"a","text":"y"}', 'corpus.jsonl')).toThrow(
    'corpus.jsonl, line 2: duplicate _id "a", first used in line 1.',
  );
  expect(() => parseBeirRows('{"_id":"a"}', 'corpus.jsonl')).toThrow('corpus.jsonl, line 1: text');
  const queries = parseBeirRows('{"_id":"q","text":"x"}', 'queries.jsonl');
  expect(() => toBeirCases(queries, 'q d1 1')).toThrow('No query has a relevant document');
});
