import type { Model, ModelRequest, ModelResponse, ModelSettings } from '@openai/agents';
import {
  createOpenAiModel,
  type OpenAiModelOptions,
} from '../../../src/adapters/openai/create-openai-model.ts';
import { isTextDiscarded } from '../../../src/agent/guards/with-retries.ts';

export type Api = OpenAiModelOptions['api'];

/** The content of a response. */
export interface Answer {
  text: string;
  /** The streamed text; empty without streaming. */
  streamed: string;
  calls: Array<{ id: string; name: string; arguments: string }>;
  totalTokens: number;
}

export function modelRequest(
  input: ModelRequest['input'] = 'hello',
  modelSettings: ModelSettings = {},
): ModelRequest {
  return { input, modelSettings, tools: [], outputType: 'text', handoffs: [], tracing: false };
}

/** Calls a model once, with or without streaming. */
export async function askModel(model: Model, stream: boolean, request = modelRequest()): Promise<Answer> {
  if (!stream) {
    const { output, usage } = await model.getResponse(request);
    return { ...read(output), streamed: '', totalTokens: usage.totalTokens };
  }
  let streamed = '';
  let answer: Answer | undefined;
  for await (const event of model.getStreamedResponse(request)) {
    if (event.type === 'output_text_delta') streamed += event.delta;
    if (isTextDiscarded(event)) streamed = '';
    if (event.type === 'response_done') {
      const { output, usage } = event.response;
      answer = { ...read(output as ModelResponse['output']), streamed, totalTokens: usage.totalTokens };
    }
  }
  if (answer === undefined) throw new Error('The stream ended without response_done.');
  return answer;
}

function read(output: ModelResponse['output']): Pick<Answer, 'text' | 'calls'> {
  const text = output
    .flatMap((item) => (item.type === 'message' && item.role === 'assistant' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('');
  const calls = output
    .filter((item) => item.type === 'function_call')
    .map((item) => ({ id: item.callId, name: item.name, arguments: item.arguments }));
  return { text, calls };
}

/** A model whose service returns these responses in order, and the requests that it received. */
export function modelAnswering(
  api: Api,
  responses: Response | Response[],
  options: Partial<OpenAiModelOptions> = {},
) {
  const queue = [responses].flat();
  const requests: Array<{ url: string; headers: Headers; body: Record<string, unknown> }> = [];
  const model = createOpenAiModel({
    model: 'test-model',
    baseUrl: 'https://llm.test/v1',
    api,
    apiKey: 'test-key-1234',
    timeoutMs: 60_000,
    fetch: async (url, init) => {
      requests.push({
        url: String(url),
        headers: new Headers(init?.headers as Headers),
        body: JSON.parse(String(init?.body)),
      });
      const response = queue.shift();
      if (response === undefined) throw new Error('No response is left.');
      return response;
    },
    ...options,
  });
  return { model, requests };
}

export function jsonResponse(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}

/** A stream of these events; strings are sent unchanged. */
export function streamResponse(...events: unknown[]): Response {
  const lines = events.map((event) =>
    typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`,
  );
  return new Response(lines.join(''), { headers: { 'content-type': 'text/event-stream' } });
}

export const DONE = 'data: [DONE]\n\n';

/** One chunk of a Chat Completions stream. */
export function chunk(delta: unknown, finish_reason: string | null = null, rest: object = {}) {
  return {
    id: 'c1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
    ...rest,
  };
}

/** A whole Chat Completions answer. */
export function completion(message: unknown, rest: object = {}) {
  return {
    id: 'c1',
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    ...rest,
  };
}
