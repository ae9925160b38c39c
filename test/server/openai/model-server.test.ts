import { randomUUID } from 'node:crypto';
import { type Model, type protocol, type StreamEvent, Usage } from '@openai/agents';
import fc from 'fast-check';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { createOfflineModel } from '../../../src/adapters/offline/offline-model.ts';
import { createOpenAiModel } from '../../../src/adapters/openai/create-openai-model.ts';
import { systemRuntime } from '../../../src/app/system-runtime.ts';
import { createModelServer, type ModelServerOptions } from '../../support/model-server.ts';
import { createWordEmbedder } from '../../support/word-embedder.ts';

const BASE_URL = 'http://127.0.0.1/v1';
const SEARCH = {
  type: 'function' as const,
  function: {
    name: 'search_docs',
    parameters: { type: 'object', properties: { query: { type: 'string' } } },
  },
};

function server(options: Partial<ModelServerOptions> = {}) {
  const embedder = createWordEmbedder();
  const app = createModelServer({
    model: createOfflineModel({ newId: randomUUID }),
    modelName: 'served',
    embedder: async () => embedder,
    embedderName: 'words',
    runtime: systemRuntime,
    ...options,
  });
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    request.headers.set('host', '127.0.0.1');
    return app.fetch(request);
  };
  const client = new OpenAI({ apiKey: 'none', baseURL: BASE_URL, maxRetries: 0, fetch });
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${BASE_URL}${path}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
  return { client, fetch, post, embedder };
}

const answering = (...output: protocol.OutputModelItem[]): Model => ({
  getResponse: async () => ({
    output,
    usage: new Usage({ requests: 1, inputTokens: 7, outputTokens: 5, totalTokens: 12 }),
  }),
  async *getStreamedResponse(): AsyncGenerator<StreamEvent> {
    yield { type: 'response_started' };
    for (const item of output) {
      if (item.type !== 'message' || item.role !== 'assistant') continue;
      for (const part of item.content) {
        for (const delta of part.type === 'output_text' ? (part.text.match(/.{1,3}/gsu) ?? []) : [])
          yield { type: 'output_text_delta', delta };
      }
    }
    const usage = { requests: 1, inputTokens: 7, outputTokens: 5, totalTokens: 12 };
    yield { type: 'response_done', response: { id: 'r', output, usage } };
  },
});

test('a chat completion without a stream holds the text and its usage', async () => {
  const { client } = server();
  const completion = await client.chat.completions.create({
    model: 'served',
    messages: [{ role: 'user', content: 'Who wrote Emma?' }],
  });
  expect(completion).toMatchObject({
    object: 'chat.completion',
    model: 'served',
    choices: [{ finish_reason: 'stop', message: { role: 'assistant', annotations: [] } }],
  });
  expect(completion.choices[0]?.message.content).toContain("don't have information about");
  const { prompt_tokens = 0, completion_tokens = 0, total_tokens } = completion.usage ?? {};
  expect(prompt_tokens).toBeGreaterThan(0);
  expect(total_tokens).toBe(prompt_tokens + completion_tokens);
});

test('the client assembles a streamed completion that calls a tool, usage included', async () => {
  const { client } = server();
  const completion = await client.chat.completions
    .stream({
      model: 'served',
      messages: [{ role: 'user', content: 'What is ROS 2?' }],
      tools: [SEARCH],
      stream_options: { include_usage: true },
    })
    .finalChatCompletion();
  expect(completion.choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { tool_calls: [{ function: { name: 'search_docs', arguments: '{"query":"What is ROS 2?"}' } }] },
  });
  expect(completion.usage?.total_tokens).toBeGreaterThan(0);
});

test('usage comes in a stream only when it was asked for', async () => {
  const { client } = server();
  const chunks = await Array.fromAsync(
    await client.chat.completions.create({
      model: 'served',
      messages: [{ role: 'user', content: 'What is ROS 2?' }],
      stream: true,
    }),
  );
  expect(chunks.some(({ usage }) => usage != null)).toBe(false);
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
});

test('the client assembles a streamed response that calls a tool', async () => {
  const { client } = server();
  const response = await client.responses
    .stream({
      model: 'served',
      input: 'What is ROS 2?',
      tools: [{ type: 'function', name: 'search_docs', parameters: {}, strict: false }],
    })
    .finalResponse();
  expect(response).toMatchObject({
    status: 'completed',
    output: [{ type: 'function_call', name: 'search_docs', arguments: '{"query":"What is ROS 2?"}' }],
  });
});

test('the results of a tool are answered from, in both APIs alike', async () => {
  const { client } = server();
  const text = 'ROS 2 is a set of libraries for building robot software.';
  const result = JSON.stringify({
    results: [{ ref: '1', text, title: 'ROS 2', url: 'https://x.example/ros', score: 0.9 }],
    total: 1,
    query: 'What is ROS 2?',
    error: null,
    message: null,
    execution_time: 0.01,
  });
  const completion = await client.chat.completions.create({
    model: 'served',
    tools: [SEARCH],
    messages: [
      { role: 'user', content: 'What is ROS 2?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'search_docs', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: result },
    ],
  });
  const response = await client.responses.create({
    model: 'served',
    tools: [{ type: 'function', name: 'search_docs', parameters: {}, strict: false }],
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'What is ROS 2?' }] },
      { type: 'function_call', call_id: 'c1', name: 'search_docs', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: result },
    ],
  });
  expect(completion.choices[0]?.message.content).toBe(`${text} [1]`);
  expect(response.output_text).toBe(`${text} [1]`);
});

test('tool_choice is obeyed', async () => {
  const { client } = server();
  const ask = async (tool_choice: OpenAI.ChatCompletionToolChoiceOption) => {
    const completion = await client.chat.completions.create({
      model: 'served',
      messages: [{ role: 'user', content: 'Thank you!' }],
      tools: [SEARCH],
      tool_choice,
    });
    return completion.choices[0]?.finish_reason;
  };
  expect(await ask('auto')).toBe('stop');
  expect(await ask('none')).toBe('stop');
  expect(await ask('required')).toBe('tool_calls');
  expect(await ask({ type: 'function', function: { name: 'search_docs' } })).toBe('tool_calls');
});

test('models are listed and looked up', async () => {
  const { client } = server();
  const ids = (await Array.fromAsync(client.models.list())).map(({ id }) => id);
  expect(ids).toEqual(['served', 'words']);
  expect(await client.models.retrieve('served')).toMatchObject({ id: 'served', object: 'model' });
  await expect(client.models.retrieve('gpt-x')).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
  });
});

test('embeddings come as numbers and as base64, and are the same', async () => {
  const { client, embedder } = server();
  const input = ['one fish', 'two fish'];
  const wanted = await embedder.embedDocuments(input);
  // The client asks for base64 unless it is told otherwise, and decodes it.
  const packed = await client.embeddings.create({ model: 'words', input });
  const plain = await client.embeddings.create({ model: 'words', input, encoding_format: 'float' });
  expect(packed.data.map(({ embedding }) => Float32Array.from(embedding))).toEqual(wanted);
  expect(plain.data.map(({ embedding }) => Float32Array.from(embedding))).toEqual(wanted);
  expect(plain.data.map(({ index }) => index)).toEqual([0, 1]);
});

const text = { role: 'user', content: 'hi' };
const BAD_REQUESTS: [string, string, unknown, { status: number; code: string; param?: string }][] = [
  [
    'no model',
    '/chat/completions',
    { messages: [text] },
    { status: 400, code: 'invalid_value', param: 'model' },
  ],
  [
    'an unknown model',
    '/chat/completions',
    { model: 'x', messages: [text] },
    { status: 404, code: 'model_not_found' },
  ],
  [
    'no messages',
    '/chat/completions',
    { model: 'served', messages: [] },
    { status: 400, code: 'invalid_value', param: 'messages' },
  ],
  [
    'an image',
    '/chat/completions',
    { model: 'served', messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
    { status: 400, code: 'invalid_value', param: 'messages' },
  ],
  [
    'a result without its call',
    '/chat/completions',
    { model: 'served', messages: [{ role: 'tool', tool_call_id: 'c', content: '' }] },
    { status: 400, code: 'invalid_value', param: 'messages' },
  ],
  [
    'two answers',
    '/chat/completions',
    { model: 'served', messages: [text], n: 2 },
    { status: 400, code: 'invalid_value', param: 'n' },
  ],
  [
    'an unknown tool choice',
    '/chat/completions',
    {
      model: 'served',
      messages: [text],
      tools: [SEARCH],
      tool_choice: { type: 'function', function: { name: 'other' } },
    },
    { status: 400, code: 'invalid_value', param: 'tool_choice' },
  ],
  [
    'a tool choice without tools',
    '/responses',
    { model: 'served', input: 'hi', tool_choice: 'required' },
    { status: 400, code: 'invalid_value', param: 'tool_choice' },
  ],
  [
    'stream options without a stream',
    '/chat/completions',
    { model: 'served', messages: [text], stream_options: { include_usage: true } },
    { status: 400, code: 'invalid_value', param: 'stream_options' },
  ],
  ['no input', '/responses', { model: 'served' }, { status: 400, code: 'invalid_value', param: 'input' }],
  [
    'an earlier response',
    '/responses',
    { model: 'served', input: 'hi', previous_response_id: 'resp_1' },
    { status: 400, code: 'unsupported_parameter', param: 'previous_response_id' },
  ],
  [
    'a hosted tool',
    '/responses',
    { model: 'served', input: 'hi', tools: [{ type: 'web_search' }] },
    { status: 400, code: 'invalid_value' },
  ],
  [
    'an empty text to embed',
    '/embeddings',
    { model: 'words', input: '' },
    { status: 400, code: 'invalid_value', param: 'input' },
  ],
  [
    'other dimensions',
    '/embeddings',
    { model: 'words', input: 'a', dimensions: 3 },
    { status: 400, code: 'invalid_value', param: 'dimensions' },
  ],
  ['an unknown path', '/completions', { model: 'served', prompt: 'hi' }, { status: 404, code: 'not_found' }],
];
for (const [name, path, body, { status, ...error }] of BAD_REQUESTS) {
  test(`a request with ${name} is refused with an error object`, async () => {
    const response = await server().post(path, JSON.stringify(body));
    expect(response.status).toBe(status);
    const answer = (await response.json()) as { error: { message: string } };
    expect(answer.error).toMatchObject({ type: 'invalid_request_error', ...error });
    expect(answer.error.message).toMatch(/^[A-Za-z].*\.$/);
  });
}

test('bodies that are no JSON, no UTF-8, of another type or too large are refused', async () => {
  const { post, fetch } = server();
  expect((await post('/chat/completions', '{')).status).toBe(400);
  expect((await post('/chat/completions', '{}', { 'content-type': 'text/plain' })).status).toBe(415);
  expect((await post('/chat/completions', `"${'a'.repeat(8_100_000)}"`)).status).toBe(413);
  const body = new Uint8Array([0x22, 0xff, 0x22]);
  const headers = { 'content-type': 'application/json' };
  expect((await fetch(`${BASE_URL}/responses`, { method: 'POST', body, headers })).status).toBe(400);
});

test('a page of another site is refused, and so is a name that was made to point here', async () => {
  const { post, fetch } = server();
  const body = JSON.stringify({ model: 'served', messages: [text] });
  expect((await post('/chat/completions', body, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await post('/chat/completions', body, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await fetch('http://127.0.0.1/v1/models')).status).toBe(200);
  const rebound = createModelServer({
    model: answering(),
    modelName: 'served',
    embedder: async () => createWordEmbedder(),
    embedderName: 'words',
    runtime: systemRuntime,
  }).request('/v1/models', { headers: { host: 'evil.example' } });
  expect((await rebound).status).toBe(403);
});

test('a model that fails gives an error object before the stream, and ends the stream once it runs', async () => {
  const failing = (after: number): Model => ({
    getResponse: () => Promise.reject(new Error('secret detail')),
    async *getStreamedResponse() {
      for (let sent = 0; sent < after; sent += 1) yield { type: 'output_text_delta', delta: 'a' };
      throw new Error('secret detail');
    },
  });
  const request = { model: 'served', messages: [{ role: 'user' as const, content: 'hi' }] };
  const heard: string[] = [];
  const onDefect = (message: string) => void heard.push(message);
  const early = server({ model: failing(0), onDefect }).client;
  await expect(early.chat.completions.create(request)).rejects.toMatchObject({ status: 500 });
  await expect(early.chat.completions.create({ ...request, stream: true })).rejects.toMatchObject({
    status: 500,
  });
  await expect(early.responses.create({ model: 'served', input: 'hi', stream: true })).rejects.toMatchObject({
    status: 500,
  });
  expect(heard).toEqual(['secret detail', 'secret detail', 'secret detail']);

  const late = server({ model: failing(2) }).client;
  const chunks = await late.chat.completions.create({ ...request, stream: true });
  await expect(Array.fromAsync(chunks)).rejects.toThrow('Something went wrong that should not have.');
  const events = await Array.fromAsync(
    await late.responses.create({ model: 'served', input: 'hi', stream: true }),
  );
  expect(events.at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'failed' } });
});

const callArbitrary = fc.record({
  callId: fc.uuid().map((id) => `call_${id}`),
  name: fc.stringMatching(/^[a-z_]{1,20}$/),
  arguments: fc
    .dictionary(fc.string(), fc.oneof(fc.string(), fc.integer()))
    .map((value) => JSON.stringify(value)),
});
const visible = fc.string({ unit: 'grapheme', minLength: 1 }).filter((value) => value.trim() !== '');

for (const api of ['chat_completions', 'responses'] as const) {
  test(`whatever a model answers arrives whole over ${api}, streamed or not`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.option(visible), fc.array(callArbitrary, { maxLength: 3 }), async (said, calls) => {
        fc.pre(said !== null || calls.length > 0);
        const message: protocol.OutputModelItem[] =
          said === null
            ? []
            : [
                {
                  type: 'message',
                  role: 'assistant',
                  status: 'completed',
                  content: [{ type: 'output_text', text: said }],
                },
              ];
        const items = calls.map((call) => ({
          type: 'function_call' as const,
          status: 'completed' as const,
          ...call,
        }));
        const { fetch } = server({ model: answering(...message, ...items) });
        const model = createOpenAiModel({
          model: 'served',
          baseUrl: BASE_URL,
          api,
          timeoutMs: 60_000,
          fetch,
        });
        const request = {
          input: 'hi',
          modelSettings: {},
          tools: calls.map(({ name }) => ({
            type: 'function' as const,
            name,
            description: '',
            parameters: {
              type: 'object' as const,
              properties: {},
              required: [],
              additionalProperties: false as const,
            },
            strict: false,
          })),
          outputType: 'text' as const,
          handoffs: [],
          tracing: false,
        };
        const whole = await model.getResponse(request);
        const events = await Array.fromAsync(model.getStreamedResponse(request));
        const done = events.findLast(({ type }) => type === 'response_done');
        const deltas = events.flatMap((event) => (event.type === 'output_text_delta' ? [event.delta] : []));
        const streamed = done?.type === 'response_done' ? done.response : undefined;
        expect(contentOf(whole.output)).toEqual({ text: said ?? '', calls });
        expect(contentOf(streamed?.output ?? [])).toEqual({ text: said ?? '', calls });
        expect(deltas.join('')).toBe(said ?? '');
        expect(whole.usage).toMatchObject({ inputTokens: 7, outputTokens: 5, totalTokens: 12 });
        expect(streamed?.usage).toMatchObject({ inputTokens: 7, outputTokens: 5, totalTokens: 12 });
      }),
      { numRuns: 40 },
    );
  });
}

function contentOf(output: readonly unknown[]) {
  const items = output as protocol.OutputModelItem[];
  const text = items.flatMap((item) =>
    item.type === 'message' && item.role === 'assistant'
      ? item.content.map((part) => (part.type === 'output_text' ? part.text : ''))
      : [],
  );
  const calls = items.flatMap((item) =>
    item.type === 'function_call'
      ? [{ callId: item.callId, name: item.name, arguments: item.arguments }]
      : [],
  );
  return { text: text.join(''), calls };
}
