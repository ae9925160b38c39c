import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashOfCases, readCases, writeCases } from '../../../src/evaluation/cases/read-cases.ts';
import { AppError } from '../../../src/faults/app-error.ts';

const lines = (...cases: object[]) => cases.map((item) => JSON.stringify(item)).join('\n');

function faultIn(text: string, file = 'cases.jsonl'): { message: string; hint: string } {
  try {
    readCases(text, file);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.kind).toBe('invalid_input');
    return { message: error.message, hint: error.hint ?? '' };
  }
  throw new Error('The cases were accepted.');
}

test('JSONL and YAML hold the same cases', () => {
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
  expect(readCases(writeCases(cases, 'c.jsonl'), 'c.jsonl')).toEqual(cases);
  expect(readCases(writeCases(cases, 'c.yaml'), 'c.yaml')).toEqual(cases);
  expect(readCases(`cases:\n${writeCases(cases, 'c.yaml').replace(/^/gm, '  ')}`, 'c.yml')).toEqual(cases);
  expect(readCases(JSON.stringify(cases), 'c.json')).toEqual(cases);
});

test('blank lines, a byte order mark and Windows line ends are no fault', () => {
  expect(
    readCases('\ufeff{"id":"a","question":"Why?"}\r\n\r\n{"id":"b","question":"How?"}\r\n', 'c.jsonl'),
  ).toHaveLength(2);
});

test('a duplicate id is refused with both lines', () => {
  const text = `${lines({ id: 'a', question: 'x' })}\n\n${lines({ id: 'a', question: 'y' })}`;
  expect(faultIn(text).message).toBe('cases.jsonl, line 3: the id "a" is taken by line 1.');
  expect(faultIn('- id: a\n  question: x\n- id: a\n  question: y\n', 'c.yaml').message).toBe(
    'c.yaml, line 3: the id "a" is taken by line 1.',
  );
});

test('an unknown field is refused with its line, and the hint lists the known ones', () => {
  const { message, hint } = faultIn(
    lines({ id: 'a', question: 'x' }, { id: 'b', question: 'y', expectedSource: ['z'] }),
  );
  expect(message).toBe('cases.jsonl, line 2: there is no field "expectedSource".');
  expect(hint).toContain('expectedSources');
});

test('every fault is told, the first in front', () => {
  const { message, hint } = faultIn(
    `${lines({ question: 'x' }, { id: 'b', question: ' ' })}\n{broken\n${lines({ id: 'c', question: 'x', answerable: 'yes' })}`,
  );
  expect(message).toContain('line 3: it is no JSON');
  expect(hint).toContain('line 1: id is missing');
  expect(hint).toContain('line 2: question: it is blank');
  expect(hint).toContain('line 4: answerable');
});

test('an empty file is refused', () => {
  expect(faultIn('').message).toBe('cases.jsonl holds no cases.');
  expect(faultIn('\n\n', 'c.yaml').message).toBe('c.yaml holds no cases.');
  expect(faultIn('[]', 'c.json').message).toBe('c.json holds no cases.');
});

test('YAML that is no list, or broken, is refused', () => {
  expect(faultIn('id: a\nquestion: x\n', 'c.yaml').message).toBe('c.yaml holds no list of cases.');
  expect(faultIn('- id: "a\n', 'c.yaml').message).toContain('c.yaml, line');
  expect(faultIn('- just text\n', 'c.yaml').message).toBe('c.yaml, line 1: it is no object.');
  expect(faultIn('- id: .nan\n  question: x\n', 'c.yaml').message).toContain('line 1: id');
});

test('gold that contradicts itself is refused', () => {
  expect(
    faultIn(lines({ id: 'a', question: 'x', answerable: false, expectedPhrases: ['y'] })).message,
  ).toContain('expectedPhrases: a case that is not answerable has none');
  expect(
    faultIn(lines({ id: 'a', question: 'x', history: [{ role: 'assistant', content: 'y' }] })).message,
  ).toContain('take turns');
  expect(
    faultIn(lines({ id: 'a', question: 'x', history: [{ role: 'user', content: 'y' }] })).message,
  ).toContain('ends with an answer');
  expect(faultIn(lines({ id: 'a', question: 'x', expectedSources: [] })).message).toContain(
    'the list is empty',
  );
});

test('the hash is of what the cases say, not of how the file is written', () => {
  const cases = readCases('{"id":"a","question":"Why?"}', 'c.jsonl');
  expect(hashOfCases(readCases('- question: Why?\n  id: a\n', 'c.yaml'))).toBe(hashOfCases(cases));
  expect(hashOfCases(readCases('{"id":"a","question":"How?"}', 'c.jsonl'))).not.toBe(hashOfCases(cases));
});

test('the cases that docs/evaluation.md shows can be read', () => {
  const [, shown = ''] = /```yaml\n(- id.*?)```/s.exec(readFileSync('docs/evaluation.md', 'utf8')) ?? [];
  expect(readCases(shown, 'docs.yaml').map(({ id }) => id)).toEqual([
    'qos-default',
    'qos-follow-up',
    'off-topic',
    'greeting',
  ]);
});

test('whatever a file holds, it is read or refused, never anything else', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('c.jsonl', 'c.yaml', 'c.json', 'c'), (text, file) => {
      try {
        readCases(text, file);
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    }),
  );
});
