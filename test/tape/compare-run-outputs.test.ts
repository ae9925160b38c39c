import { expect, test } from 'vitest';
import { REDACTED } from '../../src/faults/redactor.ts';
import { compareRunOutputs } from '../../src/tape/compare-run-outputs.ts';
import {
  emptyRunOutputs,
  type RunOutputs,
  runOutputsSchema,
  type TurnOutput,
} from '../../src/tape/run-outputs.ts';

function turn(changes: Partial<TurnOutput> = {}): TurnOutput {
  const chunk = { chunkId: 'c1', contentHash: 'h1', title: 'Nodes', score: 0.5 };
  return {
    question: 'What is a node?',
    policy: null,
    filter: {},
    model: 'm',
    reset: false,
    answer: 'A process [1].',
    grounded: true,
    citations: [{ marker: '1', title: 'Nodes', url: 'https://a.test', chunkId: 'c1', verdict: 'supported' }],
    sentences: [{ text: 'A process.', verdict: 'supported', reason: null }],
    retrievalCount: 1,
    retrieved: [{ query: 'node', totalFound: 1, chunks: [chunk] }],
    tokensUsed: { prompt: 1, completion: 2, total: 3 },
    messages: [
      { role: 'user', content: 'What is a node?' },
      { role: 'assistant', content: null, toolCalls: [{ id: 'x', name: 'search_docs', arguments: '{}' }] },
      { role: 'tool', content: 'long', name: 'search_docs' },
      { role: 'assistant', content: 'A process [1].' },
    ],
    error: null,
    ...changes,
  };
}

const run = (changes: Partial<RunOutputs>): RunOutputs => ({ ...emptyRunOutputs(), ...changes });
const failure = (message: string) => ({
  errorType: 'api_error' as const,
  message,
  userMessage: message,
  retryAfter: null,
  recoverable: true,
});
const pathsOf = (before: Partial<RunOutputs>, after: Partial<RunOutputs>) =>
  compareRunOutputs(run(before), run(after)).map(({ path }) => path);

test('compares scores up to the displayed precision', () => {
  const scored = (score: number) => {
    const [found] = turn().retrieved;
    return turn({
      retrieved: found ? [{ ...found, chunks: found.chunks.map((chunk) => ({ ...chunk, score })) }] : [],
    });
  };
  const before = { turns: [scored(0.5)], search: scored(0.5).retrieved[0] ?? null };
  const after = (score: number) => ({ turns: [scored(score)], search: scored(score).retrieved[0] ?? null });
  expect(pathsOf(before, after(0.5000003))).toEqual([]);
  expect(pathsOf(before, after(0.4999997))).toEqual([]);
  expect(pathsOf(before, after(0.501))).toEqual([
    'turn 1.retrieved[0].chunks[0].score',
    'search.chunks[0].score',
  ]);
});

test('ignores ids, token counts and volatile fields', () => {
  const again = turn({
    tokensUsed: { prompt: 9, completion: 9, total: 18 },
    messages: turn().messages.map((message) =>
      message.toolCalls === undefined
        ? message
        : { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, id: 'y' })) },
    ),
  });
  expect(pathsOf({ turns: [turn()] }, { turns: [again] })).toEqual([]);
  const ingest = (updatedAt: string) => ({ ingest: { added: 1, updatedAt } });
  expect(pathsOf(ingest('a'), ingest('b'))).toEqual([]);
});

test('a run with fewer or more turns differs', () => {
  const [one, two] = [turn(), turn({ question: 'And a topic?' })];
  expect(compareRunOutputs(run({ turns: [one, two] }), run({ turns: [one] }))).toMatchObject([
    { path: 'turn 2', before: { answer: 'A process [1].' }, after: null },
  ]);
  expect(compareRunOutputs(run({ turns: [one] }), run({ turns: [one, two] }))).toMatchObject([
    { path: 'turn 2', before: null, after: { answer: 'A process [1].' } },
  ]);
  expect(pathsOf({ turns: [one, two] }, {})).toEqual(['turn 1', 'turn 2']);
});

test.each<[string, Partial<TurnOutput>]>([
  ['turn 1.answer', { answer: 'A thread [1].' }],
  ['turn 1.grounded', { grounded: false }],
  ['turn 1.retrievalCount', { retrievalCount: 2 }],
  ['turn 1.citations[0]', { citations: [] }],
  ['turn 1.sentences[0].verdict', { sentences: [{ text: 'A process.', verdict: 'quoted', reason: null }] }],
  [
    'turn 1.sentences[0].reason',
    { sentences: [{ text: 'A process.', verdict: 'supported', reason: 'number' }] },
  ],
  ['turn 1.retrieved[0]', { retrieved: [] }],
  ['turn 1.error', { error: failure('It is away.') }],
  ['turn 1.messages[2]', { messages: turn().messages.slice(0, 3) }],
])('finds a difference in %s', (path, changes) => {
  expect(pathsOf({ turns: [turn()] }, { turns: [turn(changes)] })).toEqual([path]);
});

test('does not compare verdicts with an old tape or a redacted answer', () => {
  const doubted = turn({
    grounded: false,
    sentences: [{ text: 'A process.', verdict: 'unsupported', reason: 'name' }],
  });
  expect(pathsOf({ turns: [turn({ sentences: null })] }, { turns: [doubted] })).toEqual([]);
  const earlier = turn({ sentences: [{ text: 'A process.', verdict: 'supported' }] });
  expect(pathsOf({ turns: [earlier] }, { turns: [doubted] })).toEqual([]);
  const masked = { answer: `A ${REDACTED} [1].` };
  expect(pathsOf({ turns: [turn(masked)] }, { turns: [{ ...doubted, ...masked }] })).toEqual([]);
});

test('compares tool calls, but not tool results', () => {
  const called = (name: string, args: string, result: string) =>
    turn({
      messages: [
        { role: 'assistant', content: null, toolCalls: [{ id: '1', name, arguments: args }] },
        { role: 'tool', content: result, name },
      ],
    });
  const before = { turns: [called('search_docs', '{"q":1}', 'a')] };
  expect(pathsOf(before, { turns: [called('search_docs', '{"q":1}', 'b')] })).toEqual([]);
  expect(pathsOf(before, { turns: [called('read_source', '{"q":1}', 'a')] })).toEqual([
    'turn 1.messages[0].toolCalls[0].name',
  ]);
  expect(pathsOf(before, { turns: [called('search_docs', '{"q":2}', 'a')] })).toEqual([
    'turn 1.messages[0].toolCalls[0].arguments',
  ]);
});

test('compares search results, ingest results and the error of a run', () => {
  const search = { query: 'node', totalFound: 1, chunks: [] };
  expect(pathsOf({ search }, { search: { ...search, totalFound: 2 } })).toEqual(['search.totalFound']);
  expect(pathsOf({ search }, {})).toEqual(['search']);
  expect(pathsOf({ ingest: { added: 1 } }, { ingest: { added: 2 } })).toEqual(['ingest.added']);
  expect(pathsOf({ error: failure('a') }, { error: failure('b') })).toEqual(['error']);
  expect(pathsOf({ error: failure('a') }, {})).toEqual(['error']);
  expect(pathsOf({ error: failure('a') }, { error: { ...failure('a'), recoverable: false } })).toEqual([]);
});

test('fills in missing outputs and rejects an unknown policy', () => {
  expect(runOutputsSchema.parse({})).toEqual(emptyRunOutputs());
  const short = { question: 'q', model: 'm', answer: 'a' };
  expect(runOutputsSchema.parse({ turns: [short] }).turns).toMatchObject([{ policy: null, reset: false }]);
  expect(runOutputsSchema.safeParse({ turns: [{ ...short, policy: 'sometimes' }] }).success).toBe(false);
});
