import { expect, test } from 'vitest';
import { onCommandLine } from '../../src/cli/advice.ts';
import { findMiss, missError } from '../../src/tape/explain-miss.ts';
import type { TapeJson } from '../../src/tape/tape-format.ts';
import { asked } from './support/sample-tape.ts';

const results = (...texts: string[]) =>
  JSON.stringify({
    results: texts.map((text) => ({ text, score: 0.5 })),
    total: texts.length,
    execution_time: 0.1,
  });
const chat = (changes: Record<string, TapeJson> = {}) => ({
  model: 'small',
  temperature: 0.1,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'What is a node?' },
    { role: 'tool', content: results('A node is a process.', 'Nodes talk.') },
  ],
  tools: [{ name: 'search_docs', parameters: { type: 'object' } }],
  ...changes,
});
const messages = (system: string, user: string, tool: string) => [
  { role: 'system', content: system },
  { role: 'user', content: user },
  { role: 'tool', content: tool },
];
const tool = results('A node is a process.', 'Nodes talk.');

test.each<[string, Record<string, TapeJson>]>([
  ['the model changed', { model: 'large' }],
  ['the tools or their schema changed', { tools: [{ name: 'search_docs', parameters: { type: 'string' } }] }],
  ['the system prompt changed', { messages: messages('Be long.', 'What is a node?', tool) }],
  ['the settings of the model changed', { temperature: 0.9 }],
  ['the question, the prompt', { messages: messages('Be brief.', 'What is a topic?', tool) }],
  [
    'different chunks came back',
    { messages: messages('Be brief.', 'What is a node?', results('Another.', 'Nodes talk.')) },
  ],
])('%s: that is the reason given', (reason, changes) => {
  const tape = { exchanges: () => [asked(1, { unlike: true }, {}), asked(2, chat(), {})] };
  const miss = findMiss(asked(9, chat(changes), {}).request, tape);
  expect(miss).toMatchObject({ nearest: { id: 2 }, reason: expect.stringContaining(reason) });
});

test('a place or a service that the tape does not know is said', () => {
  const tape = { exchanges: () => [asked(1, {}, {})] };
  expect(findMiss(asked(1, {}, {}, '/v2/other').request, tape)).toMatchObject({
    nearest: null,
    reason: expect.stringContaining('nothing from this place'),
  });
  const elsewhere = { ...asked(1, {}, {}, '/x').request, url: 'https://other.test/x' };
  expect(findMiss(elsewhere, tape).reason).toContain('nothing from this service');
});

test('long texts are shown where they part, and many differences are counted', () => {
  const long = 'word '.repeat(100);
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`field${index}`, index]));
  const tape = { exchanges: () => [asked(1, { text: `${long}before`, ...many }, {})] };
  const changed = Object.fromEntries(Object.keys(many).map((name) => [name, 'x']));
  const error = missError(
    findMiss(asked(1, { ...changed, text: `${long}after` }, {}).request, tape),
    'a.tape.json',
  );
  expect(error.hint).toContain('and 13 more');
  const alone = missError(
    findMiss(asked(1, { ...many, text: `${long}after` }, {}).request, tape),
    'a.tape.json',
  );
  expect(alone.hint).toMatch(/text: ….*before" -> ….*after"/);
});

test('vectors are told by their length, and texts that look like numbers are texts', () => {
  const vector = (length: number) => Array.from({ length }, (_, index) => index / 10);
  const tape = { exchanges: () => [asked(1, { vector: vector(20), text: '1' }, {})] };
  const { hint } = missError(findMiss(asked(1, { vector: vector(30), text: '1.0' }, {}).request, tape), 'a');
  expect(hint).toContain('vector: "vector of 20" -> "vector of 30"');
  expect(hint).toContain('text: "1" -> "1.0"');
});

test('how to renew the tape names flags on the command line, and nowhere else', () => {
  const tape = { exchanges: () => [asked(1, chat(), {})] };
  const { hint, advice } = missError(
    findMiss(asked(1, chat({ model: 'large' }), {}).request, tape),
    'a.tape',
  );
  expect(hint).not.toMatch(/--\w/);
  expect(hint).toMatch(/\nTo renew the tape .*record what is missing\. To record it afresh: /);
  expect(onCommandLine(advice ?? [])).toContain(
    '\nTo renew the tape where it changed: --on-miss record. To record it afresh: --record.',
  );
});
