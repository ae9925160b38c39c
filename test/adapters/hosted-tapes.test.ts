import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ModelRequest } from '@openai/agents';
import { expect, test } from 'vitest';
import { createCohereEmbedder } from '../../src/adapters/cohere/cohere-embedder.ts';
import { createCohereReranker } from '../../src/adapters/cohere/cohere-reranker.ts';
import { createOpenAiModel } from '../../src/adapters/openai/create-openai-model.ts';
import { createRedactor } from '../../src/faults/redactor.ts';
import { readTape } from '../../src/tape/read-tape.ts';
import { findTapeProblems } from '../../src/tape/tape-summary.ts';
import { useTape } from '../../src/testing.ts';
import { askModel, modelRequest } from './openai/ask-model.ts';

const TAPES = join(import.meta.dirname, '../../fixtures/tapes');
const tapes = globSync(join(TAPES, '*.tape.json')).toSorted();

for (const path of tapes) {
  test(`the tape ${basename(path)} is complete, contains no key and names its origin`, () => {
    const tape = readTape(path);
    expect(findTapeProblems(tape, createRedactor())).toEqual([]);
    if (tape.header.origin === 'recorded') expect(tape.header.madeBy.program).toBe('citeloop');
    else expect(tape.header.note).toContain('no service was asked');
    expect(tape.exchanges.length).toBeGreaterThan(0);
  });
}

const searchTool: ModelRequest['tools'][number] = {
  type: 'function',
  name: 'search_docs',
  description: 'Search.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string' } },
    required: ['query'],
    additionalProperties: false,
  },
  strict: true,
};

function withTools(input: ModelRequest['input']): ModelRequest {
  return { ...modelRequest(input), tools: [searchTool] };
}

const question = { role: 'user' as const, content: 'What is a node?' };
const searched: ModelRequest['input'] = [
  question,
  {
    type: 'function_call',
    callId: 'call_hand1',
    name: 'search_docs',
    arguments: '{"query":"node"}',
    status: 'completed',
  },
  {
    type: 'function_call_result',
    callId: 'call_hand1',
    name: 'search_docs',
    status: 'completed',
    output: { type: 'text', text: 'A node is a process.' },
  },
];

for (const [api, tape] of [
  ['chat_completions', 'openai-chat-stream.tape.json'],
  ['responses', 'openai-responses-stream.tape.json'],
] as const) {
  test(`reads a streamed tool call and the following answer by ${api}`, async () => {
    const { counts } = await useTape(join(TAPES, tape));
    const model = createOpenAiModel({
      model: 'gpt-test',
      baseUrl: 'https://api.openai.com/v1',
      api,
      apiKey: 'none-needed-here',
      timeoutMs: 60_000,
    });
    const called = await askModel(model, true, withTools([question]));
    expect(called.calls).toEqual([{ id: 'call_hand1', name: 'search_docs', arguments: '{"query":"node"}' }]);
    const answered = await askModel(model, true, withTools(searched));
    expect(answered).toMatchObject({
      text: 'A node is a process [1].',
      streamed: 'A node is a process [1].',
    });
    expect(answered.totalTokens).toBeGreaterThan(0);
    expect(counts()).toEqual({ used: 2, repeated: 0, missed: 0 });
  });
}

test('reads Cohere embeddings and reranking, and retries after a busy answer', async () => {
  const { counts } = await useTape(join(TAPES, 'cohere-embed-rerank.tape.json'));
  const options = { apiKey: 'none-needed-here', timeoutMs: 60_000, sleep: async () => undefined };
  const embedder = await createCohereEmbedder({ ...options, model: 'embed-english-light-v3.0' });
  const vector = await embedder.embedQuery('What is a node?');
  expect([...vector.slice(0, 3)].map((value) => Math.round(value * 100) / 100)).toEqual([0.6, 0.8, 0]);
  const reranker = await createCohereReranker({ ...options, model: 'rerank-v3.5' });
  const ranked = await reranker.rerank(
    'What is a node?',
    ['Topics carry messages.', 'A node is a process.'],
    1,
  );
  expect(ranked).toEqual([{ index: 1, score: 0.98 }]);
  expect(counts()).toEqual({ used: 3, repeated: 0, missed: 0 });
});

test('a missing request of an embedder is thrown without a retry', async () => {
  const tape = await useTape(join(TAPES, 'cohere-embed-rerank.tape.json'));
  const embedder = await createCohereEmbedder({
    apiKey: 'none-needed-here',
    timeoutMs: 60_000,
    model: 'embed-english-light-v3.0',
  });
  await expect(embedder.embedQuery('Something else')).rejects.toMatchObject({ kind: 'replay_drift' });
  expect(tape.misses()).toHaveLength(1);
  await expect(tape.stop()).rejects.toMatchObject({ kind: 'replay_drift' });
});
