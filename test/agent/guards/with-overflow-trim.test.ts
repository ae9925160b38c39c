import type { AgentInputItem, Model, ModelRequest } from '@openai/agents';
import { expect, test } from 'vitest';
import { withOverflowTrim } from '../../../src/agent/guards/with-overflow-trim.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import { askModel, modelRequest } from '../../adapters/openai/ask-model.ts';

const results = Array.from({ length: 6 }, (_, index) => ({
  ref: String(index + 1),
  title: 'Nodes',
  url: 'https://docs.test/nodes',
  text: 'A node is a process that performs computation. '.repeat(20),
  score: 0.9 - index / 10,
}));
const found = {
  results,
  total: results.length,
  query: 'node',
  error: null,
  message: null,
  execution_time: 0,
};

/** A model that rejects requests over this many characters, and the requests it received. */
function modelFor(longest: number) {
  const sent: ModelRequest[] = [];
  const take = (request: ModelRequest) => {
    sent.push(request);
    if (JSON.stringify(request.input).length > longest)
      throw new AppError('context_overflow', 'This is too long for the model.');
  };
  const model: Model = {
    async getResponse(request) {
      take(request);
      return { usage: { totalTokens: 1 } as never, output: [] };
    },
    async *getStreamedResponse(request) {
      take(request);
      yield { type: 'output_text_delta', delta: 'Hi' };
      yield {
        type: 'response_done',
        response: { id: 'r', output: [], usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } },
      };
    },
  };
  return { model, sent };
}

const call: AgentInputItem = { type: 'function_call', callId: 'c', name: 'search_docs', arguments: '{}' };
const resultOf = (output: object | string) =>
  ({ type: 'function_call_result', callId: 'c', name: 'search_docs', status: 'completed', output }) as never;
const question: AgentInputItem = { role: 'user', content: 'What is a node?' };

test.each([
  ['a text', JSON.stringify(found)],
  ['a part of a text', { type: 'text', text: JSON.stringify(found) }],
])('drops the passages with the lowest scores from a search result as %s', async (_, output) => {
  for (const stream of [true, false]) {
    const { model, sent } = modelFor(4500);
    let trimmed = 0;
    const patient = withOverflowTrim(model, () => {
      trimmed += 1;
    });
    await askModel(patient, stream, modelRequest([question, call, resultOf(output)]));
    expect(trimmed).toBe(1);
    const [, again] = sent.map(({ input }) => input.at(-1) as { output: { type: string; text: string } });
    expect(again?.output.type).toBe('text');
    const kept = JSON.parse(again?.output.text ?? '');
    expect(kept.results.map(({ ref }: { ref: string }) => ref)).toEqual(
      results.slice(0, kept.total).map(({ ref }) => ref),
    );
    expect(kept.total).toBeLessThan(results.length);
    expect(kept.left_out).toEqual({ reason: 'no_room', count: results.length - kept.total });
  }
});
