import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatCases, hashCases, parseCases } from '../../../src/evaluation/cases/parse-cases.ts';
import { AppError } from '../../../src/faults/app-error.ts';

const lines = (...cases: object[]) => cases.map((item) => JSON.stringify(item)).join('\n');

function errorFor(text: string, file = 'cases.jsonl'): { message: string; hint: string } {
  try {
    parseCases(text, file);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.kind).toBe('invalid_input');
    return { message: error.message, hint: error.hint ?? '' };
  }
  throw new Error('The cases were accepted.');
}

test('parses the same cases from JSONL, YAML and JSON', () => {
  const cases = [
    { id: 'a', question: 'What is a node?', expectedSources: ['ros2/nodes.md'], tags: ['plain'] },
    {
      id: 'b',
      question: 'And a topic?',
      history: [
        { role: 'user' as const, content: 'What is a node?' },
        { role: 'assistant' as const, content: 'A process.' },
      ],
      answerable: false,
    },
  ];
  expect(parseCases(formatCases(cases, 'c.jsonl'), 'c.jsonl')).toEqual(cases);
  expect(parseCases(formatCases(cases, 'c.yaml'), 'c.yaml')).toEqual(cases);
  expect(parseCases(`cases:\n${formatCases(cases, 'c.yaml').replace(/^/gm, '  ')}`, 'c.yml')).toEqual(cases);
  expect(parseCases(JSON.stringify(cases), 'c.json')).toEqual(cases);
});

test('accepts blank lines, a byte order mark and Windows line ends', () => {
  expect(
    parseCases('\ufeff{"id":"a","question":"Why?"}\r\n\r\n{"id":"b","question":"How?"}\r\n', 'c.jsonl'),
  ).toHaveLength(2);
});

test('rejects a duplicate id and names both lines', () => {
  const text = `${lines({ id: 'a', question: 'x' })}\n\n${lines({ id: 'a', question: 'y' })}`;
  expect(errorFor(text).message).toBe('cases.jsonl, line 3: duplicate id "a", first used in line 1.');
  expect(errorFor('- id: a\n  question: x\n- id: a\n  question: y\n', 'c.yaml').message).toBe(
    'c.yaml, line 3: duplicate id "a", first used in line 1.',
  );
});

test('rejects an unknown field and lists the known ones', () => {
  const { message, hint } = errorFor(
    lines({ id: 'a', question: 'x' }, { id: 'b', question: 'y', expectedSource: ['z'] }),
  );
  expect(message).toBe('cases.jsonl, line 2: unknown field "expectedSource".');
  expect(hint).toContain('expectedSources');
});

test('reports every issue with its line', () => {
  const { message, hint } = errorFor(
    `${lines({ question: 'x' }, { id: 'b', question: ' ' })}\n{broken\n${lines({ id: 'c', question: 'x', answerable: 'yes' })}`,
  );
  expect(message).toContain('line 3: not valid JSON');
  expect(hint).toContain('line 1: id is missing');
  expect(hint).toContain('line 2: question: must not be blank');
  expect(hint).toContain('line 4: answerable');
});

test('rejects an empty file', () => {
  expect(errorFor('').message).toBe('cases.jsonl contains no cases.');
  expect(errorFor('\n\n', 'c.yaml').message).toBe('c.yaml contains no cases.');
  expect(errorFor('[]', 'c.json').message).toBe('c.json contains no cases.');
});

test('rejects YAML that is invalid or no list', () => {
  expect(errorFor('id: a\nquestion: x\n', 'c.yaml').message).toBe('c.yaml contains no list of cases.');
  expect(errorFor('- id: "a\n', 'c.yaml').message).toContain('c.yaml, line');
  expect(errorFor('- just text\n', 'c.yaml').message).toBe('c.yaml, line 1: not an object.');
  expect(errorFor('- id: .nan\n  question: x\n', 'c.yaml').message).toContain('line 1: id');
});

test('rejects contradictory gold', () => {
  expect(
    errorFor(lines({ id: 'a', question: 'x', answerable: false, expectedPhrases: ['y'] })).message,
  ).toContain('expectedPhrases: not allowed with answerable: false');
  expect(
    errorFor(lines({ id: 'a', question: 'x', history: [{ role: 'assistant', content: 'y' }] })).message,
  ).toContain('must alternate');
  expect(
    errorFor(lines({ id: 'a', question: 'x', history: [{ role: 'user', content: 'y' }] })).message,
  ).toContain('must end with an assistant message');
  expect(errorFor(lines({ id: 'a', question: 'x', expectedSources: [] })).message).toContain(
    'must not be empty',
  );
});

test('hashes cases independently of the file format', () => {
  const cases = parseCases('{"id":"a","question":"Why?"}', 'c.jsonl');
  expect(hashCases(parseCases('- question: Why?\n  id: a\n', 'c.yaml'))).toBe(hashCases(cases));
  expect(hashCases(parseCases('{"id":"a","question":"How?"}', 'c.jsonl'))).not.toBe(hashCases(cases));
});

test('parses the cases shown in docs/evaluation.md', () => {
  const [, shown = ''] = /```yaml\n(- id.*?)```/s.exec(readFileSync('docs/evaluation.md', 'utf8')) ?? [];
  expect(parseCases(shown, 'docs.yaml').map(({ id }) => id)).toEqual([
    'qos-default',
    'qos-follow-up',
    'off-topic',
    'greeting',
  ]);
});

test('parses any text or throws invalid_input', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('c.jsonl', 'c.yaml', 'c.json', 'c'), (text, file) => {
      try {
        parseCases(text, file);
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    }),
  );
});
