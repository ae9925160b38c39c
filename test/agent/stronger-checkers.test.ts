import type { Model, ModelRequest } from '@openai/agents';
import { Usage } from '@openai/agents';
import { expect, test } from 'vitest';
import { createModelChecker } from '../../src/agent/model-checker.ts';
import { createEntailmentChecker, createWordChecker } from '../../src/citations/word-checker.ts';
import type { TokensUsed } from '../../src/domain/agent-response.ts';
import { chunk } from '../domain/arbitraries.ts';

const words = createWordChecker({ store: { wordVectors: async () => new Map() }, embedder: null });
const source = chunk({ chunkId: 'c1', text: 'A service has one server. Clients call it with a request.' });
const sentences = ['A service has one server.', 'Clients call the service.', 'Clients call it at noon.'].map(
  (text) => ({ text, refs: ['1'], chunks: [source] }),
);

function createModel(reply: () => string, requests: ModelRequest[] = []): Model {
  return {
    async getResponse(request) {
      requests.push(request);
      const content = [{ type: 'output_text' as const, text: reply() }];
      return {
        usage: new Usage({ inputTokens: 30, outputTokens: 5, totalTokens: 35 }),
        output: [{ type: 'message', role: 'assistant', status: 'completed', content }],
      };
    },
    getStreamedResponse() {
      throw new Error('not streamed');
    },
  };
}

test('asks the model once about all sentences that are no quotes, and counts its tokens', async () => {
  const requests: ModelRequest[] = [];
  const model = createModel(
    () => '{"unsupported": [{"sentence": 2, "reason": "The time is not given."}]}',
    requests,
  );
  const tokens: TokensUsed[] = [];
  const { checks, checkedBy } = await createModelChecker(model, words)(sentences, {
    question: '',
    onTokens: (used) => tokens.push(used),
  });
  expect([checkedBy, requests.length]).toEqual(['model', 1]);
  expect(checks.map(({ verdict }) => verdict)).toEqual(['quoted', 'supported', 'unsupported']);
  expect(checks[2]?.reason).toEqual({ kind: 'not_entailed', text: 'The time is not given.' });
  expect(checks[1]?.evidence?.chunkId).toBe('c1');
  expect(tokens).toEqual([{ prompt: 30, completion: 5, total: 35 }]);
  expect(requests[0]?.outputType).toMatchObject({ type: 'json_schema' });
});

test('decides by words, with a notice, if the model fails or its reply cannot be read', async () => {
  const failing = createModel(() => {
    throw new Error('down');
  });
  for (const model of [createModel(() => 'All good!'), failing]) {
    const notices: string[] = [];
    const { checkedBy, checks } = await createModelChecker(model, words)(sentences, {
      question: '',
      onNotice: (message) => notices.push(message),
    });
    expect([checkedBy, notices.length]).toEqual(['words', 1]);
    expect(checks).toHaveLength(3);
  }
});

test('flags what a cross-encoder finds improbable', async () => {
  const crossEncoder = async () => ({
    id: 'x',
    scoreThreshold: 0.5,
    rerank: async (_passage: string, [claim]: readonly string[]) => [
      { index: 0, score: claim?.includes('noon') ? 0.1 : 0.9 },
    ],
  });
  const { checks, checkedBy } = await createEntailmentChecker(crossEncoder, words)(sentences, {
    question: '',
  });
  expect(checkedBy).toBe('onnx');
  expect(checks.map(({ verdict }) => verdict)).toEqual(['quoted', 'supported', 'unsupported']);
  expect(checks[2]?.reason?.kind).toBe('not_entailed');
});
