import { expect, test } from 'vitest';
import { importFile, rowsOfCsv } from '../../../src/evaluation/cases/import-tables.ts';

test('CSV becomes cases by its columns, and what they do not hold is told', () => {
  const { cases, left } = importFile(
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
  expect(left).toEqual(['the column owner']);
  expect(rowsOfCsv('a\tb\r\n1\t2\r\n', '\t')).toEqual([{ a: '1', b: '2' }]);
  expect(() => rowsOfCsv('a,b\nx"y,1\n', ',')).toThrow('Line 2 is no CSV');
});

test("Ragas's rows become cases, whichever of its names they have", () => {
  const rows = [
    { user_input: 'Why?', reference: 'Because.', retrieved_contexts: ['x'], synthesizer_name: 'single_hop' },
    { question: 'How?', ground_truth: 'So.' },
  ];
  const { cases, left } = importFile(rows.map((each) => JSON.stringify(each)).join('\n'), 'ragas.jsonl');
  expect(cases).toMatchObject([
    { question: 'Why?', expectedAnswer: 'Because.', tags: ['single_hop'] },
    { question: 'How?', expectedAnswer: 'So.' },
  ]);
  expect(left).toEqual(['the column retrieved_contexts']);
});

test("promptfoo's tests become cases with checks, and assertions that do not map are told", () => {
  const { cases, left } = importFile(
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
  expect(left).toEqual([
    'assertions latency without a text',
    'assertions of type javascript',
    'tests without a variable "question"',
  ]);
});

test('a file without questions is refused', () => {
  for (const [text, file] of [
    ['a,b\n1,2\n', 'x.csv'],
    ['{"a": 1}', 'x.json'],
    ['tests: []', 'x.yaml'],
  ] as const)
    expect(() => importFile(text, file)).toThrow('holds no questions');
});
