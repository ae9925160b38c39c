import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { matchesSource } from '../../../src/evaluation/cases/expected-source.ts';
import {
  parseCorpus,
  parseQrels,
  parseQueries,
  toCorpusFileName,
} from '../../../src/evaluation/cases/parse-beir.ts';

const MULTITURN = '../shared/data/multiturn';
const jsonl = (...rows: object[]) => rows.map((row) => JSON.stringify(row)).join('\n');

test('imports queries with relevant documents and skips the others', () => {
  const relevant = parseQrels('query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq1\td3\t2\n', 'qrels.tsv');
  const cases = parseQueries(
    jsonl({ _id: 'q1', text: 'Why?' }, { _id: 'q2', text: 'How?' }),
    'queries.jsonl',
    relevant,
  );
  expect(cases).toEqual([
    {
      id: 'q1',
      question: 'Why?',
      expectedSources: ['d1.txt', 'd3.txt'],
      answerable: true,
      needsRetrieval: true,
    },
  ]);
});

test('keeps history, answer and answerability of multi-turn sets', () => {
  const history = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ];
  const cases = parseQueries(
    jsonl(
      { _id: 1, text: 'x', history: [...history, history[0]], answer: 'y', multi_turn: 'Follow-up' },
      { _id: 2, text: 'x', answer: 'no idea', answerable: false },
    ),
    'queries.jsonl',
    new Map([['1', ['d']]]),
  );
  expect(cases).toEqual([
    {
      id: '1',
      question: 'x',
      history,
      expectedSources: ['d.txt'],
      expectedAnswer: 'y',
      answerable: true,
      needsRetrieval: true,
    },
    { id: '2', question: 'x', answerable: false, needsRetrieval: true },
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
  expect(() => parseCorpus('{"_id":"a","text":"x"}\n{"_id":"a","text":"y"}', 'corpus.jsonl')).toThrow(
    'corpus.jsonl, line 2: duplicate _id "a", first used in line 1.',
  );
  expect(() => parseCorpus('{"_id":"a"}', 'corpus.jsonl')).toThrow('corpus.jsonl, line 1: text');
  expect(() => parseQrels('q1 d1 1', 'qrels.tsv')).toThrow('qrels.tsv, line 1');
  expect(() => parseQrels('q1\td1\tyes', 'qrels.tsv')).toThrow('qrels.tsv, line 1');
  expect(() => parseQueries('{"_id":"q","text":"x"}', 'queries.jsonl', new Map())).toThrow(
    'No query of queries.jsonl',
  );
});

test.skipIf(!existsSync(MULTITURN))('imports the whole multi-turn set', () => {
  const read = (name: string) => readFileSync(`${MULTITURN}/${name}`, 'utf8');
  const cases = parseQueries(
    read('queries.jsonl'),
    'queries.jsonl',
    parseQrels(read('qrels.tsv'), 'qrels.tsv'),
  );
  const count = (answerable: boolean | undefined) =>
    cases.filter((item) => item.answerable === answerable).length;
  expect([cases.length, count(true), count(false), count(undefined)]).toEqual([205, 188, 14, 3]);
  expect(cases.filter(({ history }) => history !== undefined).length).toBeGreaterThan(150);
});
