import { type Model, type ModelResponse, type StreamEvent, Usage } from '@openai/agents';
import { expect, test } from 'vitest';
import { withUnusableAnswerErrors } from '../../../src/agent/guards/with-unusable-answer-errors.ts';
import { askModel } from '../../adapters/openai/ask-model.ts';

type Output = ModelResponse['output'];
type DoneOutput = Extract<StreamEvent, { type: 'response_done' }>['response']['output'];
type Content = Extract<Output[number], { role: 'assistant' }>['content'];

function answering(output: Output): Model {
  return {
    getResponse: async () => ({ usage: new Usage(), output }),
    async *getStreamedResponse() {
      const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
      yield { type: 'response_done', response: { id: 'r1', output: output as DoneOutput, usage } };
    },
  };
}

const message = (...content: Content): Output => [
  { type: 'message', role: 'assistant', status: 'completed', content },
];

test.each([true, false])('an empty answer is a recoverable error (streaming: %s)', async (stream) => {
  const thoughts: Output = [{ type: 'reasoning', content: [] }];
  for (const output of [[], thoughts, message(), message({ type: 'output_text', text: ' \n' })]) {
    await expect(askModel(withUnusableAnswerErrors(answering(output)), stream)).rejects.toMatchObject({
      message: 'The model sent an empty answer.',
      recoverable: true,
    });
  }
});

test.each([true, false])('reports a refusal in the words of the model (streaming: %s)', async (stream) => {
  const output = message({ type: 'refusal', refusal: 'I cannot help with that' });
  await expect(askModel(withUnusableAnswerErrors(answering(output)), stream)).rejects.toMatchObject({
    kind: 'api_error',
    message: 'The model declined to answer: I cannot help with that.',
    recoverable: false,
  });
});

test.each([true, false])('accepts text or a tool call (streaming: %s)', async (stream) => {
  const call: Output = [
    { type: 'function_call', callId: 'c1', name: 'search', arguments: '{}', status: 'completed' },
  ];
  for (const output of [call, message({ type: 'output_text', text: 'Foxes.' })]) {
    await expect(askModel(withUnusableAnswerErrors(answering(output)), stream)).resolves.toBeDefined();
  }
});
