import { expect, test } from 'vitest';
import { formatAdvice } from '../../src/cli/format-advice.ts';
import {
  explainMiss,
  explainOutputChange,
  type ReplayContext,
  toTapeMissError,
} from '../../src/tape/explain-drift.ts';
import type { TapeJson } from '../../src/tape/tape-format.ts';
import { jsonExchange } from './support/sample-tape.ts';

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
  ['the model settings changed', { temperature: 0.9 }],
  ['the question, the prompt', { messages: messages('Be brief.', 'What is a topic?', tool) }],
  [
    'the search returned different chunks',
    { messages: messages('Be brief.', 'What is a node?', results('Another.', 'Nodes talk.')) },
  ],
])('explains a miss: %s', (reason, changes) => {
  const tape = { exchanges: [jsonExchange(1, { unlike: true }, {}), jsonExchange(2, chat(), {})] };
  const miss = explainMiss(jsonExchange(9, chat(changes), {}).request, tape);
  expect(miss).toMatchObject({ nearest: { id: 2 }, reason: expect.stringContaining(reason) });
});

test('explains a request to an unknown path', () => {
  const tape = { exchanges: [jsonExchange(1, {}, {})] };
  expect(explainMiss(jsonExchange(1, {}, {}, '/v2/other').request, tape)).toMatchObject({
    nearest: null,
    reason: expect.stringContaining('no request to this path was recorded'),
  });
});

test('cuts long texts around the change and counts further differences', () => {
  const long = 'word '.repeat(100);
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`field${index}`, index]));
  const tape = { exchanges: [jsonExchange(1, { text: `${long}before`, ...many }, {})] };
  const changed = Object.fromEntries(Object.keys(many).map((name) => [name, 'x']));
  const error = toTapeMissError(
    explainMiss(jsonExchange(1, { ...changed, text: `${long}after` }, {}).request, tape),
    'a.tape.json',
  );
  expect(error.hint).toContain('and 13 more');
  const alone = toTapeMissError(
    explainMiss(jsonExchange(1, { ...many, text: `${long}after` }, {}).request, tape),
    'a.tape.json',
  );
  expect(alone.hint).toMatch(/text: ….*before" -> ….*after"/);
});

test('shows vectors by their length and keeps strings apart from numbers', () => {
  const vector = (length: number) => Array.from({ length }, (_, index) => index / 10);
  const tape = { exchanges: [jsonExchange(1, { vector: vector(20), text: '1' }, {})] };
  const { hint } = toTapeMissError(
    explainMiss(jsonExchange(1, { vector: vector(30), text: '1.0' }, {}).request, tape),
    'a',
  );
  expect(hint).toContain('vector: "vector of 20" -> "vector of 30"');
  expect(hint).toContain('text: "1" -> "1.0"');
});

test('advises flags only on the command line', () => {
  const tape = { exchanges: [jsonExchange(1, chat(), {})] };
  const { hint, advice } = toTapeMissError(
    explainMiss(jsonExchange(1, chat({ model: 'large' }), {}).request, tape),
    'a.tape',
  );
  expect(hint).not.toMatch(/--\w/);
  expect(hint).toMatch(/\nTo update the tape: .*record what is missing\. To replace it: /);
  expect(formatAdvice(advice ?? [])).toContain(
    '\nTo update the tape: --on-miss record. To replace it: --record.',
  );
});

test('names the changed settings as the reason, then a changed collection', () => {
  const tape = { exchanges: [jsonExchange(1, chat(), {})] };
  const { request } = jsonExchange(
    9,
    chat({ messages: messages('Be brief.', 'What is a node?', results('x')) }),
    {},
  );
  const reason = (context: ReplayContext) => explainMiss(request, tape, context).reason;
  const topK = [{ name: 'topK', before: 5, after: 2 }];
  expect(reason({ changedSettings: topK, collectionChanged: true })).toBe('topK is 2 (recorded: 5)');
  expect(reason({ changedSettings: [], collectionChanged: true })).toContain('the collection changed');
  expect(reason({ changedSettings: [], collectionChanged: false })).toContain('different chunks');
  expect(explainOutputChange({ changedSettings: [], collectionChanged: true })).toBe(
    'the collection changed',
  );
  expect(explainOutputChange({ changedSettings: [], collectionChanged: null })).toContain('this version');
});
