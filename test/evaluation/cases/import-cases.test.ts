import { expect, test } from 'vitest';
import { importCases } from '../../../src/evaluation/cases/import-cases.ts';

test('imports CSV rows by column name and lists the columns it skips', () => {
  const { cases, skipped } = importCases(
    'id,question,answer,sources,tags,owner\nq1,"What is a ""node""?\nSay, please.",A process,a.md;b.md,plain|short,anna\n,,,,,\n,Who?,,,,\n',
    'x.csv',
  );
  expect(cases).toEqual([
    {
      id: 'q1',
      question: 'What is a "node"?\nSay, please.',
      expectedAnswer: 'A process',
      expectedSources: ['a.md', 'b.md'],
      tags: ['plain', 'short'],
    },
    { id: 'row-2', question: 'Who?' },
  ]);
  expect(skipped).toEqual(['column owner']);
});

test('imports TSV and rejects unbalanced quotes', () => {
  expect(importCases('\ufeffquestion\tanswerable\tanswer\r\nWho?\tno\tx\r\n', 'x.tsv').cases).toEqual([
    { id: 'row-1', question: 'Who?', answerable: false },
  ]);
  expect(() => importCases('question,b\n"x,1\n', 'x.csv')).toThrow('x.csv, row 2: Quoted field unterminated');
});

test('imports rows of Ragas with either of its column names', () => {
  const rows = [
    { user_input: 'Why?', reference: 'Because.', retrieved_contexts: ['x'], synthesizer_name: 'single_hop' },
    { question: 'How?', ground_truth: 'So.' },
  ];
  const { cases, skipped } = importCases(rows.map((each) => JSON.stringify(each)).join('\n'), 'ragas.jsonl');
  expect(cases).toMatchObject([
    { question: 'Why?', expectedAnswer: 'Because.', tags: ['single_hop'] },
    { question: 'How?', expectedAnswer: 'So.' },
  ]);
  expect(skipped).toEqual(['column retrieved_contexts']);
  expect(importCases(JSON.stringify(rows), 'ragas.json').cases).toEqual(cases);
});

test('imports promptfoo tests with their assertions as checks and lists those it skips', () => {
  const { cases, skipped } = importCases(
    `prompts: ["{{question}}"]
tests:
  - description: the default
    vars: { question: What is the default? }
    assert:
      - { type: icontains, value: reliable }
      - { type: regex, value: "^It" }
      - { type: llm-rubric, value: Names the policy. }
      - { type: not-contains, value: maybe }
      - { type: latency, threshold: 100 }
      - { type: javascript, value: "output.length < 10" }
  - vars: { topic: Who? }
  - vars: { a: 1, b: 2 }
`,
    'promptfooconfig.yaml',
  );
  expect(cases).toEqual([
    {
      id: 'test-1',
      question: 'What is the default?',
      forbiddenPhrases: ['maybe'],
      checks: [{ contains: 'reliable' }, { regex: '^It' }, { rubric: 'Names the policy.' }],
      note: 'the default',
    },
    { id: 'test-2', question: 'Who?' },
  ]);
  expect(skipped).toEqual([
    'assertions of type latency without text',
    'assertions of type javascript',
    'tests without a question',
  ]);
});

test('rejects a file without questions', () => {
  for (const [text, file] of [
    ['a,b\n1,2\n', 'x.csv'],
    ['{"a": 1}', 'x.json'],
    ['tests: []', 'x.yaml'],
  ] as const)
    expect(() => importCases(text, file)).toThrow('contains no questions');
});
