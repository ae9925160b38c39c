import { expect, test } from 'vitest';
import { answerChangeKind, diffAnswers } from '../../src/tape/diff-answers.ts';
import type { TapeExchange, TapeJson } from '../../src/tape/tape-format.ts';
import { jsonExchange } from './support/sample-tape.ts';

const kinds = (before: TapeExchange, now: TapeExchange) => [
  ...new Set(diffAnswers(before, now).map(answerChangeKind)),
];

const chat = (message: TapeJson, more: object = {}) =>
  jsonExchange(
    1,
    {},
    { id: `chatcmpl-${Math.random()}`, choices: [{ message }], ...more },
    '/v1/chat/completions',
  );
const said = (content: string) => chat({ role: 'assistant', content });
const called = (name: string, args: string) =>
  chat({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', function: { name, arguments: args } }],
  });

/** A streamed response. */
function streamed(path: string, events: readonly TapeJson[]): TapeExchange {
  const data = [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'];
  return {
    ...jsonExchange(1, {}, {}, path),
    response: { status: 200, headers: {}, chunks: data.map((each) => ({ delayMs: 0, data: each })) },
  };
}
const pieces = (...deltas: TapeJson[]) =>
  streamed(
    '/v1/chat/completions',
    deltas.map((delta) => ({ choices: [{ delta }] })),
  );

test('ignores ids', () => {
  expect(kinds(said('A node [1].'), said('A node [1].'))).toEqual([]);
  expect(kinds(called('search_docs', '{"a":1,"b":2}'), called('search_docs', '{"b":2, "a":1}'))).toEqual([]);
});

test.each<[string, TapeExchange, TapeExchange, string[]]>([
  ['other words', said('A node [1].'), said('The node [1].'), ['answer']],
  ['other citations', said('A node [1].'), said('A node [2].'), ['citations', 'answer']],
  ['no call', called('search_docs', '{}'), said('A node.'), ['tool-choice', 'answer']],
  ['other arguments', called('search_docs', '{"q":1}'), called('search_docs', '{"q":2}'), ['arguments']],
  [
    'a call in pieces',
    pieces(
      { tool_calls: [{ index: 0, function: { name: 'search_docs', arguments: '{"q":' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '1}' } }] },
    ),
    pieces({ tool_calls: [{ index: 0, function: { name: 'search_docs', arguments: '{"q":2}' } }] }),
    ['arguments'],
  ],
  [
    'a text in other pieces',
    pieces({ content: 'A ' }, { content: 'node.' }),
    pieces({ content: 'A node.' }),
    [],
  ],
  ['another ranking', ranked(0, 1), ranked(1, 0), ['ranking']],
  ['another vector', embedded(1), embedded(-1), ['vectors']],
  ['the same vector, rounded', embedded(1), embedded(1.0001), []],
])('%s', (_, before, now, expected) => {
  expect(kinds(before, now)).toEqual(expected);
});

test('reads the completed response of a Responses API stream', () => {
  const response = (text: string) => [
    { type: 'response.output_text.delta', delta: text },
    { type: 'response.completed', response: { output: [{ type: 'message', content: [{ text }] }] } },
  ];
  const [before, now] = ['It is [1].', 'It is [3].'].map((text) => streamed('/v1/responses', response(text)));
  expect(kinds(before as TapeExchange, now as TapeExchange)).toEqual(['citations', 'answer']);
});

test('compares only the status of a failed call', () => {
  const busy = { ...said('x'), response: { status: 429, headers: {}, body: { json: {} } } };
  expect(diffAnswers(said('x'), busy)).toEqual([{ path: 'status', before: '200', after: '429' }]);
});

function ranked(...order: number[]): TapeExchange {
  return jsonExchange(
    1,
    {},
    { results: order.map((index) => ({ index, relevance_score: 0.5 })) },
    '/v2/rerank',
  );
}

function embedded(first: number): TapeExchange {
  const vector = Array.from({ length: 16 }, (_, index) => (index === 0 ? first : 0.1));
  return jsonExchange(1, {}, { data: [{ embedding: vector }] }, '/v1/embeddings');
}
