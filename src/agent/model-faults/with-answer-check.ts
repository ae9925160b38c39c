import type { Model, ModelResponse } from '@openai/agents-core';
import { AppError } from '../../domain/app-error.ts';
import { oneLine } from '../../domain/visible-text.ts';

type Output = ModelResponse['output'];

/** A model whose every response holds text or a tool call: an empty message or a refusal is a fault. */
export function withAnswerCheck(model: Model): Model {
  return {
    async getResponse(request) {
      const response = await model.getResponse(request);
      checkOutput(response.output);
      return response;
    },
    async *getStreamedResponse(request) {
      for await (const event of model.getStreamedResponse(request)) {
        if (event.type === 'response_done') checkOutput(event.response.output);
        yield event;
      }
    },
  };
}

function checkOutput(output: Output): void {
  const content = output.flatMap((item) =>
    item.type === 'message' && item.role === 'assistant' ? item.content : [],
  );
  const hasText = content.some((part) => part.type === 'output_text' && part.text.trim() !== '');
  if (hasText || output.some(({ type }) => type !== 'message' && type !== 'reasoning')) return;
  const refusal = content.find((part) => part.type === 'refusal');
  if (refusal !== undefined) {
    const said = oneLine(refusal.refusal, 300).replace(/\.?$/, '.');
    throw new AppError('api_error', `The model declined to answer: ${said}`, {
      hint: 'Rephrase the question.',
    });
  }
  throw new AppError('api_error', 'The model sent an empty answer.', {
    recoverable: true,
    hint: 'Ask again, or use another model.',
  });
}
