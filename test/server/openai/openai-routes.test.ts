import { type Model, Usage } from '@openai/agents';
import { assistantMessage, functionCall, modelError, ScriptedModel } from '@openai/agents/testing';
import type OpenAI from 'openai';
import { expect, test } from 'vitest';
import { AppError } from '../../../src/faults/app-error.ts';
import { createPausingModel } from '../pausing-model.ts';
import { BOOK, startAgentServer } from '../start-agent-server.ts';

const ZEBRA = 'A zebra is a striped horse. [1]';
const user = (content: string): OpenAI.ChatCompletionMessageParam => ({ role: 'user', content });
const search = (query: string) =>
  functionCall('search_docs', { query, top_k: null, module: null }, { callId: `call-${query}` });

/** What the model was shown as the conversation, without results of tools. */
function said(model: ScriptedModel): unknown[] {
  const input = model.calls.at(-1)?.request.input ?? [];
  return (typeof input === 'string' ? [] : input).flatMap((item) =>
    'role' in item && (item.role === 'user' || item.role === 'assistant') ? [item.content] : [],
  );
}

test('returns the checked answer as a completion with annotations', async () => {
  const { client } = await startAgentServer();
  const completion = await client.chat.completions.create({
    model: 'citeloop',
    messages: [user('What is a zebra?')],
  });
  const message = completion.choices[0]?.message;
  expect(message?.content).toContain(ZEBRA);
  expect(message?.annotations?.[0]?.url_citation).toMatchObject({
    title: 'Zebras',
    url: 'https://library.example/animals%2FZebras',
  });
  for (const { url_citation } of message?.annotations ?? []) {
    expect(message?.content?.slice(url_citation.start_index, url_citation.end_index)).toMatch(/^\[\d\]$/);
  }
  expect(completion.usage?.total_tokens).toBeGreaterThan(0);
  expect(completion).toMatchObject({ citeloop: { grounded: true, citations: [{ verdict: 'quoted' }] } });
});

test('streams the same answer and annotations', async () => {
  const { client } = await startAgentServer();
  const request = { model: 'citeloop', messages: [user('What is a zebra?')] };
  const whole = await client.chat.completions.create(request);
  const chunks = await Array.fromAsync(
    await client.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    }),
  );
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  const annotations = chunks.flatMap(
    ({ choices }) => (choices[0]?.delta as { annotations?: unknown[] } | undefined)?.annotations ?? [],
  );
  expect(text).toBe(whole.choices[0]?.message.content);
  expect(annotations).toEqual(whole.choices[0]?.message.annotations);
  expect(chunks.filter(({ choices }) => choices[0]?.delta.content).length).toBeGreaterThan(3);
  expect(chunks.at(-1)?.usage?.completion_tokens).toBe(whole.usage?.completion_tokens);
});

test('returns the same response with and without a stream', async () => {
  const { client } = await startAgentServer();
  const request = { model: 'citeloop', input: 'What is a zebra?' };
  const whole = await client.responses.create(request);
  const streamed = await client.responses.stream(request).finalResponse();
  expect(whole.output_text).toContain(ZEBRA);
  expect(streamed.output_text).toBe(whole.output_text);
  const annotationsOf = (response: OpenAI.Responses.Response) =>
    response.output.flatMap((item) =>
      item.type === 'message'
        ? item.content.flatMap((part) => (part.type === 'output_text' ? part.annotations : []))
        : [],
    );
  expect(annotationsOf(whole)[0]).toMatchObject({ type: 'url_citation', title: 'Zebras' });
  expect(annotationsOf(streamed)).toEqual(annotationsOf(whole));
});

test('repeats an answer that broke off, unless its text was sent', async () => {
  const failing = (): Model => {
    let calls = 0;
    const then = new ScriptedModel([[assistantMessage('A zebra is striped.')]]);
    return {
      getResponse: (request) => then.getResponse(request),
      async *getStreamedResponse(request) {
        calls += 1;
        if (calls > 1) return yield* then.getStreamedResponse(request);
        yield { type: 'output_text_delta', delta: 'A zebra is '.repeat(50) };
        throw new AppError('api_error', 'Gone.', { recoverable: true });
      },
    };
  };
  const request = { model: 'citeloop', messages: [user('What is a zebra?')] };
  const { client } = await startAgentServer({ chatModel: failing() });
  const whole = await client.chat.completions.create(request);
  expect(whole.choices[0]?.message.content).toBe('A zebra is striped.');
  const other = await startAgentServer({ chatModel: failing() });
  const stream = await other.client.chat.completions.create({ ...request, stream: true });
  await expect(Array.fromAsync(stream)).rejects.toThrow('broke off');
});

test('reports an incomplete answer in both APIs', async () => {
  const cut = {
    output: [assistantMessage('A zebra is')],
    usage: new Usage({ inputTokens: 9, outputTokens: 3 }),
    providerData: { incomplete_details: { reason: 'max_output_tokens' } },
  };
  const { client } = await startAgentServer({ chatModel: new ScriptedModel([cut, cut, cut]) });
  const messages = [user('What is a zebra?')];
  const completion = await client.chat.completions.create({ model: 'citeloop', messages });
  expect(completion).toMatchObject({
    choices: [{ finish_reason: 'length' }],
    citeloop: { grounded: false, finishReason: 'length' },
  });
  const request = { model: 'citeloop', input: 'What is a zebra?' };
  const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  expect(await client.responses.create(request)).toMatchObject(incomplete);
  const events = await Array.fromAsync(await client.responses.create({ ...request, stream: true }));
  expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: incomplete });
});

test('uses earlier messages as history and stores nothing', async () => {
  const model = new ScriptedModel([[search('owl')], [assistantMessage('An owl hunts at night. [1]')]]);
  const { client, sessions } = await startAgentServer({ chatModel: model });
  await client.chat.completions.create({
    model: 'citeloop',
    messages: [
      { role: 'system', content: 'You are a pirate.' },
      user('What is a zebra?'),
      { role: 'assistant', content: ZEBRA },
      user('And an owl?'),
    ],
  });
  expect(said(model)).toEqual([
    'What is a zebra?',
    [{ type: 'output_text', text: 'A zebra is a striped horse.' }],
    'And an owl?',
  ]);
  expect(model.calls[0]?.request.systemInstructions).not.toContain('pirate');
  expect(await sessions.list()).toEqual([]);
});

test('sends no markers of unknown sources', async () => {
  const answer = 'A zebra is a striped horse. [1] It can fly. [9] Take rows[7] of it.';
  const script = () => new ScriptedModel([[search('zebra')], [assistantMessage(answer)]]);
  const streamed = await startAgentServer({ chatModel: script() });
  const chunks = await Array.fromAsync(
    await streamed.client.chat.completions.create({
      model: 'citeloop',
      messages: [user('What is a zebra?')],
      stream: true,
    }),
  );
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  expect(text).toContain('[1]');
  expect(text).toContain('rows[7]');
  expect(text).not.toContain('[9]');
  const whole = await startAgentServer({ chatModel: script() });
  const response = await whole.client.responses.create({ model: 'citeloop', input: 'What is a zebra?' });
  expect(response.output_text).not.toContain('[9]');
  expect(response).toMatchObject({
    citeloop: { citations: [{ marker: '1' }, { marker: '9', verdict: 'unknown_source' }] },
  });
});

test('omits unsupported citations from annotations', async () => {
  const model = new ScriptedModel([[search('zebra')], [assistantMessage('Zebras weigh 900 tonnes. [1]')]]);
  const { client } = await startAgentServer({ chatModel: model });
  const completion = await client.chat.completions.create({
    model: 'citeloop',
    messages: [user('What do zebras weigh?')],
  });
  expect(completion.choices[0]?.message.annotations).toEqual([]);
  expect(completion).toMatchObject({
    citeloop: { grounded: false, citations: [{ verdict: 'unsupported' }] },
  });
});

test('omits text before the first search from the stream', async () => {
  const model = new ScriptedModel([
    [assistantMessage('Let me look that up.'), search('zebra')],
    [assistantMessage(ZEBRA)],
  ]);
  const { client } = await startAgentServer({ chatModel: model });
  const stream = client.responses.stream({ model: 'citeloop', input: 'What is a zebra?' });
  let streamed = '';
  stream.on('response.output_text.delta', ({ delta }) => {
    streamed += delta;
  });
  await stream.finalResponse();
  expect(streamed).toBe(ZEBRA);
});

test('maps models to collections', async () => {
  const { client } = await startAgentServer({
    libraries: { animals: BOOK, tools: { 'shed/Hammers': 'A hammer is a tool that drives nails.' } },
  });
  const ids = (await Array.fromAsync(client.models.list())).map(({ id }) => id);
  expect(ids).toEqual(['citeloop', 'citeloop/animals', 'citeloop/tools']);
  const ask = async (model: string) =>
    (await client.responses.create({ model, input: 'What is a hammer?' })).output_text;
  expect(await ask('citeloop/tools')).toContain('A hammer is a tool that drives nails. [1]');
  expect(await ask('citeloop')).not.toContain('hammer is a tool');
  for (const model of [
    'gpt-5',
    'citeloop/none',
    'citeloop/../animals',
    'citeloop/%2e%2e%2fanimals',
    'citeloop/',
  ])
    await expect(ask(model)).rejects.toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
});

test('accepts policy and filter', async () => {
  const { client, library } = await startAgentServer();
  const ask = (citeloop: object) => {
    const body = { model: 'citeloop', input: 'What is a zebra?', citeloop };
    return client.responses.create(body);
  };
  await ask({ policy: 'never' });
  expect(library.searches()).toBe(0);
  expect((await ask({ filter: { module: ['plants'] } })).output_text).not.toContain('zebra is a striped');
  await expect(ask({ policy: 'sometimes' })).rejects.toMatchObject({ status: 400, param: 'citeloop.policy' });
  await expect(ask({ colour: 'red' })).rejects.toMatchObject({ status: 400 });
});

test('uses the configured policy by default', async () => {
  const model = new ScriptedModel([[assistantMessage('Hello.')]]);
  const { client, library } = await startAgentServer({ chatModel: model, policy: 'always' });
  await client.responses.create({ model: 'citeloop', input: 'What is a zebra?' });
  expect(library.searches()).toBe(1);
});

const text = { role: 'user', content: 'hi' };
const chat = (fields: object) =>
  ['/v1/chat/completions', { model: 'citeloop', messages: [text], ...fields }] as const;
const response = (fields: object) =>
  ['/v1/responses', { model: 'citeloop', input: 'hi', ...fields }] as const;
const BAD_REQUESTS: [string, readonly [string, object], { code: string; param?: string; status?: number }][] =
  [
    ['no model', chat({ model: undefined }), { code: 'invalid_value', param: 'model' }],
    ['an unknown model', chat({ model: 'x' }), { code: 'model_not_found', status: 404 }],
    ['no messages', chat({ messages: [] }), { code: 'invalid_value', param: 'messages' }],
    [
      'an image',
      chat({ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }),
      { code: 'invalid_value', param: 'messages.0.content' },
    ],
    [
      'only an assistant message',
      chat({ messages: [{ role: 'assistant', content: 'hi' }] }),
      { code: 'invalid_value' },
    ],
    [
      'only a system message',
      chat({ messages: [{ role: 'system', content: 'hi' }] }),
      { code: 'invalid_value' },
    ],
    [
      'a tool result as the last message',
      chat({ messages: [text, { role: 'tool', tool_call_id: 'c', content: 'x' }] }),
      { code: 'invalid_value' },
    ],
    [
      'a question that is too long',
      chat({ messages: [{ role: 'user', content: 'x'.repeat(9000) }] }),
      { code: 'invalid_input' },
    ],
    ['two answers', chat({ n: 2 }), { code: 'invalid_value', param: 'n' }],
    [
      'tools',
      chat({ tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] }),
      { code: 'unsupported_parameter', param: 'tools' },
    ],
    [
      'legacy functions',
      chat({ functions: [{ name: 'f' }] }),
      { code: 'unsupported_parameter', param: 'functions' },
    ],
    [
      'stream options without a stream',
      chat({ stream_options: { include_usage: true } }),
      { code: 'invalid_value', param: 'stream_options' },
    ],
    ['no input', response({ input: undefined }), { code: 'invalid_value', param: 'input' }],
    ['a blank input', response({ input: '   ' }), { code: 'invalid_input' }],
    [
      'a hosted tool',
      response({ tools: [{ type: 'web_search' }] }),
      { code: 'unsupported_parameter', param: 'tools' },
    ],
    [
      'an earlier response',
      response({ previous_response_id: 'resp_1' }),
      { code: 'unsupported_parameter', param: 'previous_response_id' },
    ],
    ['an unknown path', ['/v1/completions', { prompt: 'hi' }], { code: 'not_found', status: 404 }],
  ];
for (const [name, [path, body], { status = 400, ...error }] of BAD_REQUESTS) {
  test(`refuses a request with ${name}`, async () => {
    const { post } = await startAgentServer();
    const refusal = await post(path, body);
    expect(refusal.status).toBe(status);
    const answer = (await refusal.json()) as { error: { message: string } };
    expect(answer.error).toMatchObject({ type: 'invalid_request_error', ...error });
    expect(answer.error.message).toMatch(/^[A-Za-z].*\.$/);
  });
}

test('refuses bodies that are not JSON, not UTF-8, of another type or too large', async () => {
  const { url } = await startAgentServer({ limits: { maxBodyBytes: 1000 } });
  const status = async (body: string | Uint8Array<ArrayBuffer>, type = 'application/json') =>
    (await fetch(`${url}/v1/responses`, { method: 'POST', body, headers: { 'content-type': type } })).status;
  expect(await status('{')).toBe(400);
  expect(await status(new Uint8Array([0x22, 0xff, 0x22]))).toBe(400);
  expect(await status('{}', 'text/plain')).toBe(415);
  expect(await status(`"${'a'.repeat(1000)}"`)).toBe(413);
});

test('returns an error status after the turn timeout', async () => {
  const pausing = createPausingModel();
  const { client } = await startAgentServer({ chatModel: pausing.model, limits: { turnMs: 1500 } });
  await expect(client.responses.create({ model: 'citeloop', input: 'hi' })).rejects.toMatchObject({
    status: 502,
    message: expect.stringContaining('took longer than'),
  });
  await pausing.untilAborted(1);
});

test('returns a status for a failing model', async () => {
  const model = new ScriptedModel([modelError(Object.assign(new Error('no such key'), { status: 401 }))]);
  const { client } = await startAgentServer({ chatModel: model });
  await expect(client.responses.create({ model: 'citeloop', input: 'hi' })).rejects.toMatchObject({
    status: 502,
    code: 'auth_error',
  });
});

test('sends the error and the hint once', async () => {
  const refused = Object.assign(new Error('Bad key.'), { status: 401 });
  const { client } = await startAgentServer({ chatModel: new ScriptedModel([modelError(refused)]) });
  const asking = client.chat.completions.create({ model: 'citeloop', messages: [user('What is a zebra?')] });
  await expect(asking).rejects.toMatchObject({
    error: {
      message:
        'The model service did not accept the key: Bad key. ' +
        'Check OPENAI_API_KEY in the environment or in .env, and that it belongs to this service.',
    },
  });
});

test('sends hints without CLI flags and commands', async () => {
  const refused = Object.assign(new Error('no such thing'), { status: 404 });
  const { client, post } = await startAgentServer({
    chatModel: new ScriptedModel([modelError(refused), modelError(refused)]),
  });
  const asking = client.chat.completions.create({ model: 'citeloop', messages: [user('What is a zebra?')] });
  await expect(asking).rejects.toMatchObject({
    error: {
      message: expect.stringContaining('and the setting api: many services support only chat_completions.'),
    },
  });
  const answer = await post('/api/ask', { question: 'What is a zebra?' });
  const text = await answer.text();
  expect(text).toContain('the setting api');
  expect(text).not.toMatch(/--\w|citeloop \w|\/reset/);
});
