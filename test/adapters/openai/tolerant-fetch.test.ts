import type { ModelRequest } from '@openai/agents';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toAppError } from '../../../src/agent/guards/model-errors.ts';
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

const call = (fields: object, name?: string, text?: unknown) => ({
  tool_calls: [
    { ...fields, function: { ...(name && { name }), ...(text !== undefined && { arguments: text }) } },
  ],
});

async function answerTo(api: Api, response: Response, stream: boolean) {
  const { model } = modelAnswering(api, response);
  return askModel(model, stream);
}

const chatStream = (...events: unknown[]) => answerTo('chat_completions', streamResponse(...events), true);
const chatJson = (body: unknown) => answerTo('chat_completions', jsonResponse(body), false);
const responsesStream = (...events: unknown[]) => answerTo('responses', streamResponse(...events), true);
const responsesJson = (body: unknown) => answerTo('responses', jsonResponse(body), false);

/** The error of a call. */
async function errorOf(answer: Promise<unknown>) {
  const error = await answer.then(
    () => new Error('It succeeded.'),
    (thrown: unknown) => thrown,
  );
  return toAppError(error);
}

test('ignores comments in a stream', async () => {
  const first = `data: ${JSON.stringify(chunk({ content: 'Foxes ' }))}\n\n`;
  const answer = await chatStream(
    ': WAIT\n\n',
    first,
    ': WAIT\n\n',
    chunk({ content: 'run.' }, 'stop'),
    DONE,
  );
  expect(answer).toMatchObject({ text: 'Foxes run.', streamed: 'Foxes run.' });
});

test.each(['\n', '\r\n'])(
  'accepts lines that end in %j and a last event without an empty line',
  async (end) => {
    const lines = [chunk({ content: 'Fo' }), chunk({ content: 'xes' }, 'stop')].map(
      (each) => `data:${JSON.stringify(each)}`,
    );
    expect(await chatStream(lines.join(end + end))).toMatchObject({ text: 'Foxes' });
  },
);

test('a stream with a finish reason is complete without [DONE]', async () => {
  expect(await chatStream(chunk({ content: 'Yes.' }), chunk({}, 'stop'))).toMatchObject({ text: 'Yes.' });
});

test('a stream with [DONE] is complete without a finish reason, also an empty one', async () => {
  expect(await chatStream(chunk({ content: 'Yes.' }, ''), DONE)).toMatchObject({ text: 'Yes.' });
  expect(await chatStream(chunk({ content: 'Yes.' }), DONE)).toMatchObject({ text: 'Yes.' });
});

test('a stream that ends in the middle is an error', async () => {
  expect(await errorOf(chatStream(chunk({ content: 'Half of an' })))).toMatchObject({
    kind: 'api_error',
    message: 'The answer of the model broke off in the middle.',
    recoverable: true,
  });
  expect(await errorOf(chatStream(''))).toMatchObject({
    message: 'The model service closed the connection before it answered.',
  });
});

test('[DONE] in the middle of a tool call is an error', async () => {
  const events = [chunk(call({ index: 0, id: 'call_a' }, 'search', '{"query": "fo')), DONE];
  expect(await errorOf(chatStream(...events))).toMatchObject({ recoverable: true });
});

test('no prefix of a stream counts as the answer', async () => {
  const events = [
    ...['All ', 'foxes ', 'run.'].map((content) => chunk({ content })),
    chunk(call({ index: 0, id: 'call_a' }, 'search', '{"query":')),
    chunk(call({ index: 0 }, undefined, '"fox"}')),
    chunk({}, 'tool_calls'),
  ];
  const whole = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: whole.length }), async (length) => {
      const answer = await chatStream(whole.slice(0, length)).catch(() => undefined);
      if (answer === undefined) return;
      expect(answer.text).toBe('All foxes run.');
      expect(answer.calls).toEqual([{ id: 'call_a', name: 'search', arguments: '{"query":"fox"}' }]);
    }),
  );
});

test('content may be null, missing or a list of parts with reasoning', async () => {
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
    { type: 'text', text: 'Foxes.' },
  ];
  expect(await chatJson(completion({ content: parts }))).toMatchObject({ text: 'Foxes.' });
  expect(await chatStream(chunk({ content: parts }), chunk({ content: null }, 'stop'))).toMatchObject({
    text: 'Foxes.',
  });
  expect(await chatJson(completion({ content: null, ...call({ id: 'a' }, 'search', '{}') }))).toMatchObject({
    text: '',
  });
  expect(await chatJson(completion(call({ id: 'a' }, 'search', '{}')))).toMatchObject({
    calls: [{ name: 'search' }],
  });
});

test.each([
  ['', undefined],
  [undefined, null],
  [null, ''],
])('repairs a tool call with id %j and arguments %j', async (id, text) => {
  const expected = { name: 'now', arguments: '{}', id: expect.stringMatching(/^\w{9}$/) };
  expect((await chatJson(completion(call({ id }, 'now', text)))).calls).toEqual([expected]);
  const delta = call({ index: 0, id }, 'now', text);
  expect((await chatStream(chunk(delta), chunk({}, 'tool_calls'), DONE)).calls).toEqual([expected]);
  const item = { type: 'function_call', call_id: id, name: 'now', arguments: text };
  expect((await responsesJson({ id: 'r1', status: 'completed', output: [item] })).calls).toEqual([expected]);
});

test('arguments may be an object', async () => {
  const expected = [{ id: 'call_a', name: 'search', arguments: '{"query":"fox"}' }];
  const fields = call({ id: 'call_a', index: 0 }, 'search', { query: 'fox' });
  expect((await chatJson(completion(fields))).calls).toEqual(expected);
  expect((await chatStream(chunk(fields, 'tool_calls'))).calls).toEqual(expected);
});

test('a name repeated in every chunk of a call is one name', async () => {
  const answer = await chatStream(
    chunk(call({ index: 0, id: 'call_a' }, 'search', '')),
    chunk(call({ index: 0, id: 'call_a' }, 'search', '{"query"')),
    chunk(call({ index: 0, id: 'call_a' }, 'search', ':"fox"}')),
    DONE,
  );
  expect(answer.calls).toEqual([{ id: 'call_a', name: 'search', arguments: '{"query":"fox"}' }]);
});

test.each([
  [
    'an index for each',
    [
      { index: 0, id: 'a1b2' },
      { index: 1, id: 'c3d4' },
    ],
  ],
  [
    'one index for all',
    [
      { index: 0, id: 'a1b2' },
      { index: 0, id: 'c3d4' },
    ],
  ],
  ['no index', [{ id: 'a1b2' }, { id: 'c3d4' }]],
  ['neither index nor id', [{}, {}]],
  [
    'empty ids and one index',
    [
      { index: 0, id: '' },
      { index: 0, id: '' },
    ],
  ],
])('keeps parallel calls with %s separate', async (_, [first = {}, second = {}]) => {
  const answer = await chatStream(
    chunk(call(first, 'search', '{"query":"fox"}')),
    chunk(call(second, 'search', '{"query":"owl"}')),
    chunk({}, 'tool_calls'),
  );
  expect(answer.calls.map((each) => each.arguments)).toEqual(['{"query":"fox"}', '{"query":"owl"}']);
  expect(new Set(answer.calls.map(({ id }) => id)).size).toBe(2);
});

test('missing ids are the same for the same conversation and differ as it continues', async () => {
  const calls = {
    tool_calls: ['fox', 'owl'].map((q) => ({ function: { name: 'now', arguments: `{"q":"${q}"}` } })),
  };
  const idsAfter = async (...questions: string[]) => {
    const { model } = modelAnswering('chat_completions', jsonResponse(completion(calls)));
    const input = questions.map((content) => ({ role: 'user' as const, content }));
    return (await askModel(model, true, modelRequest(input))).calls.map(({ id }) => id);
  };
  const first = await idsAfter('a');
  expect(new Set(first).size).toBe(2);
  expect(await idsAfter('a')).toEqual(first);
  expect(new Set([...first, ...(await idsAfter('a', 'b'))]).size).toBe(4);
});

test('replaces an id that the conversation has used before', async () => {
  const { model } = modelAnswering(
    'chat_completions',
    jsonResponse(completion(call({ id: '0' }, 'now', '{}'))),
  );
  const { calls } = await askModel(model, false, {
    modelSettings: {},
    tools: [],
    outputType: 'text',
    handoffs: [],
    tracing: false,
    input: [
      { type: 'function_call', callId: '0', name: 'now', arguments: '{}', status: 'completed' },
      { type: 'function_call_result', callId: '0', name: 'now', status: 'completed', output: 'noon' },
    ],
  });
  expect(calls).toEqual([{ id: expect.stringMatching(/^\w{9}$/), name: 'now', arguments: '{}' }]);
});

const offered: ModelRequest['tools'] = ['search_docs', 'read_source'].map((name) => ({
  type: 'function',
  name,
  description: name,
  parameters: { type: 'object', properties: {}, required: [], additionalProperties: false },
  strict: true,
}));

/** The names of the calls of a model with these tools, for each form of an answer. */
async function calledAs(name: string, tools: ModelRequest['tools']): Promise<string[]> {
  const text = '{"query":"fox"}';
  const item = { type: 'function_call', call_id: 'a', name, namespace: 'functions', arguments: text };
  const response = { id: 'r1', status: 'completed', output: [item] };
  const whole = completion({ content: null, tool_calls: [{ id: 'a', function: { name, arguments: text } }] });
  const pieces = [{ index: 0, id: 'a', function: { name, arguments: text } }];
  const answers: Array<[Api, Response, boolean]> = [
    ['chat_completions', jsonResponse(whole), false],
    ['chat_completions', jsonResponse(whole), true],
    ['chat_completions', streamResponse(chunk({ tool_calls: pieces }, 'tool_calls')), true],
    ['responses', jsonResponse(response), false],
    ['responses', streamResponse({ type: 'response.completed', response }), true],
  ];
  const names = new Set<string>();
  for (const [api, answer, stream] of answers) {
    const { model } = modelAnswering(api, answer);
    const { calls } = await askModel(model, stream, { ...modelRequest(), tools });
    for (const each of calls) names.add(each.name);
  }
  return [...names];
}

test.each([
  ['functions.search_docs', 'search_docs'],
  ['functions.search_docs:0', 'search_docs'],
  ['default_api:read_source', 'read_source'],
  ['mcp__docs__search_docs', 'search_docs'],
  ['search_docs<|channel|>commentary', 'search_docs'],
  ['Search_Docs', 'search_docs'],
  ['web.search', 'web_search'],
  ['search_docs.read_source', 'search_docs_read_source'],
  ['my_search_docs', 'my_search_docs'],
  ['', 'unnamed'],
])('maps a call of %j to %j', async (name, expected) => {
  expect(await calledAs(name, offered)).toEqual([expected]);
});

test('a call without a name is a call of the only tool', async () => {
  expect(await calledAs('', offered.slice(0, 1))).toEqual(['search_docs']);
});

test('ignores a call with neither name nor arguments', async () => {
  const expected = { text: 'Yes.', calls: [] };
  const empty = { content: 'Yes.', tool_calls: [{ id: '', function: { name: '', arguments: null } }] };
  expect(await chatJson(completion(empty))).toMatchObject(expected);
  expect(await answerTo('chat_completions', jsonResponse(completion(empty)), true)).toMatchObject(expected);
  expect(await chatStream(chunk(empty, 'stop'))).toMatchObject(expected);
  const output = [{ type: 'function_call', call_id: '', name: '', arguments: '' }, message];
  expect(await responsesJson({ status: 'completed', output })).toMatchObject(expected);
});

test.each([undefined, null, {}, { prompt_tokens: null }])('usage may be %j', async (usage) => {
  expect(await chatJson(completion({ content: 'Yes.' }, { usage }))).toMatchObject({ totalTokens: 0 });
  expect(await chatStream(chunk({ content: 'Yes.' }, 'stop', { usage }))).toMatchObject({ totalTokens: 0 });
});

test('finds usage after the finish reason', async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  expect(await chatStream(chunk({ content: 'Yes.' }, 'stop'), { choices: [], usage }, DONE)).toMatchObject({
    totalTokens: 5,
  });
});

const errors: Array<[string, unknown, object]> = [
  ['an object', { error: { message: 'Slow down', code: 429 } }, { kind: 'rate_limit' }],
  ['a text', { error: 'the server ran out of memory' }, { kind: 'api_error', recoverable: true }],
  [
    'a list',
    [{ error: { message: 'Key bad', status: 'UNAUTHENTICATED', code: 401 } }],
    { kind: 'auth_error' },
  ],
  ['a bare message', { object: 'error', message: 'Overloaded', code: 503 }, { recoverable: true }],
  ['a detail', { detail: [{ loc: ['body', 'model'], msg: 'field required' }] }, { kind: 'api_error' }],
  [
    'an error of the choice',
    { choices: [{ error: { message: 'upstream died', code: 502 } }] },
    { recoverable: true },
  ],
  [
    'a finish reason',
    { choices: [{ delta: { content: '' }, finish_reason: 'error' }] },
    { recoverable: true },
  ],
];

test.each(errors)('finds an error inside an answer with status 200: %s', async (_, body, expected) => {
  expect(await errorOf(chatJson(body))).toMatchObject(expected);
  expect(await errorOf(chatStream(chunk({ content: 'Fo' }), body))).toMatchObject(expected);
});

test('an error event keeps the message of the service', async () => {
  const event = `event: error\ndata: ${JSON.stringify({ message: 'Tool call validation failed', code: 'tool_use_failed' })}\n\n`;
  expect(await errorOf(chatStream(chunk({}), event))).toMatchObject({
    message: 'The model made a tool call that its service rejects: Tool call validation failed.',
    recoverable: true,
  });
});

test('keeps the message that OpenRouter sends with the finish reason "error"', async () => {
  const failed = chunk({ content: '' }, 'error', { error: { code: 502, message: 'Provider gone' } });
  expect(await errorOf(chatStream(chunk({ content: 'Fo' }), failed))).toMatchObject({
    kind: 'api_error',
    message: 'The model service failed: Provider gone.',
    recoverable: true,
  });
});

test('an error of OpenRouter includes the message of its provider', async () => {
  const error = {
    message: 'Provider returned error',
    code: 429,
    metadata: { raw: 'm is busy.', retry_after_seconds: 7 },
  };
  expect(await errorOf(chatJson({ error }))).toMatchObject({
    kind: 'rate_limit',
    message: 'The model service is receiving too many requests: Provider returned error: m is busy.',
    retryAfter: 7,
  });
});

test('accepts a service that does not stream when asked to', async () => {
  const body = completion({ content: 'Yes.', ...call({ id: 'call_a' }, 'now', '{}') });
  expect(await answerTo('chat_completions', jsonResponse(body), true)).toMatchObject({
    streamed: 'Yes.',
    calls: [{ id: 'call_a', name: 'now', arguments: '{}' }],
  });
  const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Yes.' }] }];
  expect(await answerTo('responses', jsonResponse({ status: 'completed', output }), true)).toMatchObject({
    text: 'Yes.',
    streamed: 'Yes.',
  });
});

test.each([{}, { id: '' }, { index: 0 }, { index: 0, id: 'same' }])(
  'keeps parallel calls of a whole answer separate when streaming: %j',
  async (fields) => {
    const texts = ['{"query":"fox"}', '{"query":"owl"}'];
    const tool_calls = texts.map((text) => ({ ...fields, function: { name: 'search', arguments: text } }));
    const body = completion({ content: null, tool_calls });
    const { calls } = await answerTo('chat_completions', jsonResponse(body), true);
    expect(calls.map(({ name, arguments: text }) => [name, text])).toEqual(
      texts.map((text) => ['search', text]),
    );
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  },
);

test.each([true, false])('reports a web page or broken JSON (streaming: %s)', async (stream) => {
  const page = () => new Response('<!doctype html><p>Hi', { headers: { 'content-type': 'text/html' } });
  expect(await errorOf(answerTo('chat_completions', page(), stream))).toMatchObject({
    kind: 'configuration_error',
    hint: expect.stringContaining('/v1'),
  });
  const type = stream ? 'text/event-stream' : 'application/json';
  const broken = new Response('data: {"choices": [\n\n', { headers: { 'content-type': type } });
  expect(await errorOf(answerTo('chat_completions', broken, stream))).toMatchObject({
    message: 'The model service sent an answer that is not valid JSON.',
  });
});

const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] };
const added = { type: 'response.output_item.done', output_index: 0, item: message };

test('the final event of a Responses stream may lack the items or be missing', async () => {
  const end = { type: 'response.completed', response: { id: 'r1', status: 'completed', output: [] } };
  expect(await responsesStream(added, end)).toMatchObject({ text: 'Yes.', totalTokens: 0 });
  expect(await responsesStream(added, DONE)).toMatchObject({ text: 'Yes.' });
  expect(await errorOf(responsesStream(added))).toMatchObject({ recoverable: true });
});

test('the type of a Responses event may be in its event line only', async () => {
  const { type, ...data } = added;
  const lines = `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  expect(await responsesStream(lines, DONE)).toMatchObject({ text: 'Yes.' });
});

test('a failed Responses stream has a reason', async () => {
  const error = { code: 'rate_limit_exceeded', message: 'Please try again in 1.5s.' };
  const failed = { type: 'response.failed', response: { status: 'failed', error } };
  expect(await errorOf(responsesStream({ type: 'response.created', response: {} }, failed))).toMatchObject({
    kind: 'rate_limit',
    retryAfter: 1.5,
  });
  expect(await errorOf(responsesJson({ status: 'failed', error }))).toMatchObject({ kind: 'rate_limit' });
});

test('keeps an answer that was cut at the token limit, and an empty one is an error', async () => {
  const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  expect(await responsesJson({ ...cut, output: [message] })).toMatchObject({ text: 'Yes.' });
  expect(await errorOf(responsesJson({ ...cut, output: [] }))).toMatchObject({ hint: 'Raise maxTokens.' });
  const empty = completion(
    { content: '' },
    { choices: [{ message: { content: '' }, finish_reason: 'length' }] },
  );
  expect(await errorOf(chatJson(empty))).toMatchObject({ hint: 'Raise maxTokens.' });
});
