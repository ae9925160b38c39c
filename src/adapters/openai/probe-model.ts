import type { ModelRequest } from '@openai/agents-core';
import { createOpenAiModel, type OpenAiModelOptions } from './create-openai-model.ts';

export interface ModelAbilities {
  /** Whether the model called the tool in the request. */
  tools: boolean;
  streaming: boolean;
  usage: boolean;
}

const PROBE_REQUEST: ModelRequest = {
  systemInstructions: 'You look everything up with the tool search_docs before you answer.',
  input: 'What is a dog?',
  modelSettings: { maxTokens: 256 },
  tools: [
    {
      type: 'function',
      name: 'search_docs',
      description: "Search the user's documents.",
      strict: true,
      parameters: {
        type: 'object',
        properties: { query: { type: 'string' } },
        required: ['query'],
        additionalProperties: false,
      },
    },
  ],
  outputType: 'text',
  handoffs: [],
  tracing: false,
};

/** Probes a model with one small request. Throws the errors of the model or its client unchanged. */
export async function probeModelAbilities(
  options: OpenAiModelOptions,
  signal?: AbortSignal,
): Promise<ModelAbilities> {
  const { fetch = globalThis.fetch } = options;
  let streaming = false;
  const model = createOpenAiModel({
    ...options,
    async fetch(...request) {
      const response = await fetch(...request);
      streaming = /event-stream/.test(response.headers.get('content-type') ?? '');
      return response;
    },
  });
  const abilities = { tools: false, usage: false };
  for await (const event of model.getStreamedResponse({ ...PROBE_REQUEST, ...(signal && { signal }) })) {
    if (event.type !== 'response_done') continue;
    const { output, usage } = event.response;
    abilities.tools = output.some((item) => item.type === 'function_call');
    abilities.usage = usage.totalTokens > 0;
  }
  return { ...abilities, streaming };
}
