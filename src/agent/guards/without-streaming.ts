import type { Model, ModelResponse, StreamEvent } from '@openai/agents-core';
import { responseText, type StreamedResponse } from '../model-response.ts';

/** A model whose service is asked for whole responses, although the loop reads a stream. */
export function withoutStreaming(model: Model): Model {
  return {
    getResponse: (request) => model.getResponse(request),
    async *getStreamedResponse(request): AsyncGenerator<StreamEvent> {
      yield { type: 'response_started' };
      const { usage, responseId, providerData, ...response } = await model.getResponse(request);
      const output = response.output.map(toStreamedItem);
      const text = responseText(output);
      if (text !== '') yield { type: 'output_text_delta', delta: text };
      const { requests, inputTokens, outputTokens, totalTokens } = usage;
      yield {
        type: 'response_done',
        response: {
          id: responseId ?? '',
          usage: { requests, inputTokens, outputTokens, totalTokens },
          output,
          ...(providerData !== undefined && { providerData }),
        },
      };
    },
  };
}

/** Without the raw fields of the service in each part: they would be sent back with the next request. */
function toStreamedItem(item: ModelResponse['output'][number]) {
  if (item.type !== 'message' || item.role !== 'assistant') return item as StreamedResponse['output'][number];
  const content = item.content.map(({ providerData: _, ...part }) => part as (typeof item.content)[number]);
  return { ...item, content };
}
