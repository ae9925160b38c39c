import { Agent, Runner, tool } from '@openai/agents';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createOpenAiModel } from '../../../src/adapters/openai/create-openai-model.ts';
import { providerPresets } from '../../../src/config/service-access.ts';
import {
  type Api,
  askModel,
  chunk,
  completion,
  DONE,
  jsonResponse,
  modelAnswering,
  modelRequest,
  streamResponse,
} from './ask-model.ts';

const server = setupServer();
beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

const searchCall = { name: 'search', arguments: '{"query":"fox"}' };
const searchItem = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_a',
  status: 'completed',
  ...searchCall,
};
const textItem = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Foxes run.', annotations: [] }],
};
const response = (item: object) => ({ id: 'r1', object: 'response', status: 'completed', output: [item] });
const delta = { type: 'response.output_text.delta', output_index: 0, delta: 'Foxes run.' };
const toolCalls = [{ index: 0, id: 'call_a', type: 'function', function: searchCall }];

/** A tool call, then the answer, in the form of each API. */
const conversations: Array<[Api, boolean, string, [Response, Response]]> = [
  [
    'chat_completions',
    false,
    'chat/completions',
    [
      jsonResponse(completion({ content: 'Let me look.', refusal: null, tool_calls: toolCalls })),
      jsonResponse(completion({ content: 'Foxes run.' })),
    ],
  ],
  [
    'chat_completions',
    true,
    'chat/completions',
    [
      streamResponse(
        chunk({ content: 'Let me look.' }),
        chunk({ tool_calls: toolCalls }, 'tool_calls'),
        DONE,
      ),
      streamResponse(chunk({ content: 'Foxes run.' }, 'stop'), DONE),
    ],
  ],
  ['responses', false, 'responses', [jsonResponse(response(searchItem)), jsonResponse(response(textItem))]],
  [
    'responses',
    true,
    'responses',
    [
      streamResponse({ type: 'response.completed', response: response(searchItem) }),
      streamResponse(delta, { type: 'response.completed', response: response(textItem) }),
    ],
  ],
];

test.each(conversations)(
  'the SDK runs a tool loop over %s (streaming: %s)',
  async (api, stream, path, answers) => {
    const bodies: Array<Record<string, unknown>> = [];
    const queue = [...answers];
    server.use(
      http.post(`https://llm.test/v1/${path}`, async ({ request }) => {
        bodies.push((await request.json()) as Record<string, unknown>);
        return queue.shift() ?? HttpResponse.error();
      }),
    );
    const search = tool({
      name: 'search',
      description: 'Searches.',
      strict: true,
      parameters: {
        type: 'object',
        properties: { query: { type: 'string' } },
        required: ['query'],
        additionalProperties: false,
      },
      execute: async (input) => `found: ${(input as { query: string }).query}`,
    });
    const model = createOpenAiModel({
      model: 'm',
      baseUrl: 'https://llm.test/v1',
      api,
      apiKey: 'test-key',
      timeoutMs: 60_000,
    });
    const runner = new Runner({ tracingDisabled: true });
    const agent = new Agent({ name: 'A', instructions: 'Cite.', model, tools: [search] });

    if (stream) {
      const result = await runner.run(agent, 'Do foxes run?', { stream: true });
      let text = '';
      for await (const event of result) {
        if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta')
          text += event.data.delta;
      }
      expect(text).toMatch(/Foxes run\.$/);
      expect(result.finalOutput).toBe('Foxes run.');
    } else {
      expect((await runner.run(agent, 'Do foxes run?')).finalOutput).toBe('Foxes run.');
    }

    expect(bodies).toHaveLength(2);
    expect(JSON.stringify(bodies[1])).toContain('found: fox');
    if (api === 'chat_completions') {
      expect(bodies[1]?.messages).toContainEqual({
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [{ id: 'call_a', type: 'function', function: searchCall }],
      });
    }
  },
);

test('a call of an unknown tool returns an error to the model, and the turn continues', async () => {
  const called = (id: string, name: string) =>
    completion({ content: null, tool_calls: [{ id, function: { name, arguments: '{"q":"fox"}' } }] });
  const { model, requests } = modelAnswering('chat_completions', [
    jsonResponse(called('a', 'web.search')),
    jsonResponse(called('b', '')),
    yes(),
  ]);
  const runner = new Runner({ tracingDisabled: true, toolNotFoundBehavior: 'return_error_to_model' });
  const result = await runner.run(new Agent({ name: 'A', model }), 'Do foxes run?', { stream: true });
  await result.completed;
  expect(result.finalOutput).toBe('Yes.');
  const sent = requests.at(-1)?.body.messages as Array<{ role: string; content: string }> | undefined;
  const results = sent?.filter(({ role }) => role === 'tool').map(({ content }) => content);
  expect(results).toEqual([expect.stringContaining('web_search'), expect.stringContaining('unnamed')]);
});

const yes = () => jsonResponse(completion({ content: 'Yes.' }));

test('sends the key, or no authorization header without one', async () => {
  const keyed = modelAnswering('chat_completions', yes());
  await askModel(keyed.model, false);
  expect(keyed.requests[0]?.headers.get('authorization')).toBe('Bearer test-key-1234');

  const keyless = modelAnswering('chat_completions', yes(), { apiKey: undefined });
  await askModel(keyless.model, false);
  expect(keyless.requests[0]?.headers.get('authorization')).toBeNull();
});

test('reads nothing from the environment', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-of-someone-else');
  vi.stubEnv('OPENAI_ORG_ID', 'org-of-someone-else');
  vi.stubEnv('OPENAI_BASE_URL', 'https://elsewhere.test');
  const { model, requests } = modelAnswering('chat_completions', yes(), { apiKey: undefined });
  await askModel(model, false);
  vi.unstubAllEnvs();
  expect(requests[0]?.url).toBe('https://llm.test/v1/chat/completions');
  expect(JSON.stringify([...(requests[0]?.headers ?? [])])).not.toContain('someone-else');
});

test.each([
  ['https://llm.test/v1', 'llama', 'max_tokens'],
  ['https://llm.test/v1', 'gpt-5-mini', 'max_completion_tokens'],
  ['https://api.openai.com/v1', 'gpt-4.1', 'max_completion_tokens'],
])('at %s the token limit of %s is %s', async (baseUrl, model, name) => {
  const service = modelAnswering('chat_completions', yes(), { baseUrl, model });
  await askModel(service.model, false, modelRequest('hello', { maxTokens: 7 }));
  expect(Object.entries(service.requests[0]?.body ?? {}).filter(([, value]) => value === 7)).toEqual([
    [name, 7],
  ]);
});

test('omits a parameter that the service refuses from then on', async () => {
  const refusal = (message: string, param: string) =>
    jsonResponse(
      { error: { message, param, code: 'unsupported_value', type: 'invalid_request_error' } },
      400,
    );
  const { model, requests } = modelAnswering('chat_completions', [
    refusal("Unsupported value: 'temperature' does not support 0.1 with this model.", 'temperature'),
    refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", 'max_tokens'),
    yes(),
    yes(),
  ]);
  const request = modelRequest('hello', { temperature: 0.1, maxTokens: 7 });
  expect(await askModel(model, false, request)).toMatchObject({ text: 'Yes.' });
  expect(await askModel(model, false, request)).toMatchObject({ text: 'Yes.' });
  expect(requests).toHaveLength(4);
  expect(
    requests.slice(2).map(({ body }) => [body.temperature, body.max_tokens, body.max_completion_tokens]),
  ).toEqual([
    [undefined, undefined, 7],
    [undefined, undefined, 7],
  ]);
});

test('sends reasoning back in the field that it came in', async () => {
  const { model, requests } = modelAnswering('chat_completions', [
    jsonResponse(completion({ content: null, reasoning_content: 'I should look.', tool_calls: toolCalls })),
    yes(),
  ]);
  const { output } = await model.getResponse(modelRequest());
  await model.getResponse(modelRequest(output));
  expect(requests[1]?.body.messages).toEqual([
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_a', type: 'function', function: searchCall }],
      reasoning_content: 'I should look.',
    },
  ]);
});

test('base URLs of presets end in /v1', () => {
  for (const { baseUrl } of Object.values(providerPresets)) expect(baseUrl).toMatch(/^https?:\/\/\S+\/v1$/);
});
