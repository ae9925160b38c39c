import type { RequestListener } from 'node:http';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { expect, test } from 'vitest';
import { createOpenAiModel } from '../../src/adapters/openai/create-openai-model.ts';
import type { AgentConfig } from '../../src/domain/agent-config.ts';
import { retrievalToolResponseSchema } from '../../src/domain/retrieval-tool-response.ts';
import { type RunEvent, runEventSchema } from '../../src/domain/run-event.ts';
import { AppError } from '../../src/faults/app-error.ts';
import {
  formatStreamEvent,
  respondWithJson,
  respondWithStatus,
  startFaultyServer,
  startStream,
  streamAnswer,
} from '../support/faulty-server.ts';
import { createSmallLibrary } from '../support/small-library.ts';
import { askAndWait, createTestAgent } from '../support/test-agent.ts';

const long = (subject: string) =>
  Array.from({ length: 60 }, (_, i) => `The ${subject} of part ${i} eats grass and hay.`).join(' ');
const FARM = { 'farm/Cows': long('cow'), 'farm/Goats': long('goat'), 'farm/Sheep': long('sheep') };
const BOOK = { 'animals/Zebras': 'A zebra is a striped horse. Zebras live in Africa.' };

const search = (query: string) =>
  functionCall('retrieve_context', { query, top_k: 3 }, { callId: `call-${query}` });

function notices(events: readonly RunEvent[]): string[] {
  return events.flatMap((each) => (each.type === 'notice' ? each.message : []));
}

test('shows the best passage of each search when the budget is used up, with one notice', async () => {
  const model = new ScriptedModel([
    [search('cow goat sheep')],
    [search('grass and hay')],
    [assistantMessage('Hm.')],
    [search('what eats grass')],
    [assistantMessage('Hm.')],
  ]);
  const config = { toolName: 'retrieve_context' as const, contextWindow: 1200, maxTokens: 100 };
  const session = await createTestAgent(await createSmallLibrary(FARM), model, { config }).startSession();
  const first = await askAndWait(session, 'What eats grass?');
  const shown = session
    .snapshot()
    .messages.flatMap((message) =>
      message.role === 'tool' ? [retrievalToolResponseSchema.parse(JSON.parse(message.content))] : [],
    );
  expect(shown).toHaveLength(2);
  for (const response of shown) {
    expect(response.total).toBeGreaterThan(0);
    expect(response).toMatchObject({ error: null, left_out: { reason: 'no_room' } });
    expect(response.message).toContain('left out');
    for (const { text } of response.results) expect(text).toMatch(/^The .*\.$/);
  }
  const retrieved = first.turn?.retrievals ?? [];
  const charged = retrieved.reduce((sum, { totalTokens }) => sum + totalTokens, 0);
  const characters = shown.flatMap(({ results }) => results).reduce((sum, { text }) => sum + text.length, 0);
  expect(charged).toBeGreaterThan(characters / 4);
  expect(charged).toBeLessThan(JSON.stringify(shown.map(({ results }) => results)).length / 4 + 40);
  const second = await askAndWait(session, 'And what else?');
  const emitted = [...notices(first.events), ...notices(second.events)];
  expect(emitted.filter((notice) => notice.includes('Not all passages'))).toHaveLength(1);
});

test('policy always shows the best passage, cut, if none fits', async () => {
  const model = new ScriptedModel([[assistantMessage('The cow of part 0 eats grass and hay. [1]')]]);
  const config = { policy: 'always' as const, contextWindow: 400, maxTokens: 50 };
  const session = await createTestAgent(await createSmallLibrary(FARM), model, { config }).startSession();
  const { turn } = await askAndWait(session, 'cow');
  expect(JSON.stringify(model.calls[0]?.request.input)).toContain('<source ref=\\"1\\"');
  expect(turn?.response.grounded).toBe(true);
});

test('rejects a system prompt or a question that does not fit', async () => {
  const library = await createSmallLibrary(BOOK);
  const systemPrompt = 'Be terse. '.repeat(300);
  const open = (contextWindow: number) => {
    const model = new ScriptedModel([[assistantMessage('Yes.')]]);
    return createTestAgent(library, model, {
      config: { systemPrompt, contextWindow, maxTokens: 50 },
    }).startSession();
  };
  await expect(open(700)).rejects.toMatchObject({
    kind: 'context_overflow',
    message: expect.stringContaining('window of 700 tokens'),
    hint: expect.stringContaining('contextWindow'),
  });
  const { events } = await askAndWait(await open(900), 'Is it? '.repeat(300));
  expect(events.at(-1)).toMatchObject({ type: 'error', error: { errorType: 'context_overflow' } });
});

/** A session with the OpenAI adapter on a server that sends these responses. */
async function served(answers: RequestListener[], config: Partial<AgentConfig> = {}) {
  const bodies: string[] = [];
  const server = await startFaultyServer(...answers);
  const { maxEventBytes, maxAnswerCharacters } = {
    maxEventBytes: 8_000_000,
    maxAnswerCharacters: 200_000,
    ...config,
  };
  const model = createOpenAiModel({
    model: 'm',
    baseUrl: server.baseUrl,
    api: config.api ?? 'chat_completions',
    timeoutMs: 60_000,
    maxEventBytes,
    maxAnswerCharacters,
    fetch: (input, init) => {
      bodies.push(String(init?.body));
      return fetch(input, init);
    },
  });
  const session = await createTestAgent(await createSmallLibrary(BOOK), model, {
    config: { policy: 'always', ...config },
  }).startSession();
  return { session, bodies, server };
}

const SENTENCE = 'A zebra is a striped horse. [1]';
const finish = (finish_reason: string, usage?: object) =>
  formatStreamEvent({ choices: [{ index: 0, delta: {}, finish_reason }], ...(usage && { usage }) });

test('answers again after a stream that failed in the middle, and records only the second answer', async () => {
  const broken = startStream(['A zebra is\x1b['], (response) =>
    response.end(formatStreamEvent({ error: { code: 502, message: 'Provider gone' } })),
  );
  const { session, server } = await served([broken, streamAnswer(SENTENCE)]);
  const { events, turn } = await askAndWait(session, 'What is a zebra?');
  expect(server.requests()).toBe(2);
  expect(turn?.response).toMatchObject({ answer: SENTENCE, grounded: true });
  expect(session.snapshot().messages.at(-1)?.content).toBe(SENTENCE);
  const shown = events
    .filter(({ type }) => /^(text_|notice)/.test(type))
    .map((event) => runEventSchema.parse(event));
  expect(shown.map(({ type }) => type).slice(0, 4)).toEqual([
    'text_delta',
    'notice',
    'text_discarded',
    'text_delta',
  ]);
  expect(shown[1]).toMatchObject({ retry: { error: { message: expect.stringContaining('Provider gone') } } });
  const discarded = shown.findIndex(({ type }) => type === 'text_discarded');
  const deltas = shown.slice(discarded).map((event) => (event.type === 'text_delta' ? event.delta : ''));
  expect(deltas.join('')).toBe(SENTENCE);
});

const ending = (reason: string) => startStream([SENTENCE], (response) => response.end(finish(reason)));
const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: SENTENCE }] };
const incomplete = (reason: string, output: object[]) =>
  respondWithJson(JSON.stringify({ id: 'r', status: 'incomplete', incomplete_details: { reason }, output }));

test.each([
  ['max_tokens in Chat Completions', 'length', ending('length'), {}, /limit of 1024 tokens/],
  ['a filter in Chat Completions', 'content_filter', ending('content_filter'), {}, /content filter/],
  [
    'max_tokens in Responses',
    'length',
    incomplete('max_output_tokens', [message]),
    { api: 'responses' as const },
    /limit of/,
  ],
])('an answer cut by %s has an error and is not grounded', async (_, finishReason, cut, config, sentence) => {
  const { session } = await served([cut], config);
  const { turn } = await askAndWait(session, 'What is a zebra?');
  expect(turn?.response).toMatchObject({
    answer: SENTENCE,
    finishReason,
    grounded: false,
    error: { errorType: 'api_error', message: expect.stringMatching(sentence) },
    citations: [{ verdict: 'quoted' }],
  });
});

const rewritten = respondWithJson(
  '{"choices":[{"message":{"content":"What is a zebra?"},"finish_reason":"stop"}]}',
);

test('estimates tokens that the service does not count, and marks them', async () => {
  const counted = startStream([SENTENCE], (response) =>
    response.end(finish('stop', { prompt_tokens: 70, completion_tokens: 9, total_tokens: 79 })),
  );
  const { session } = await served([counted, rewritten, streamAnswer(SENTENCE)]);
  expect((await askAndWait(session, 'What is a zebra?')).turn?.response.tokensUsed).toEqual({
    prompt: 70,
    completion: 9,
    total: 79,
  });
  const { turn } = await askAndWait(session, 'And what is it?');
  expect(turn?.response.tokensUsed).toMatchObject({ estimated: true });
  expect(turn?.response.tokensUsed.prompt).toBeGreaterThan(70);
  expect(turn?.response.tokensUsed.completion).toBeGreaterThan(8);
});

const tooLong = respondWithStatus(
  400,
  JSON.stringify({
    error: {
      message: "This model's maximum context length is 1100 tokens.",
      code: 'context_length_exceeded',
    },
  }),
);

test('shortens a request that is too long and retries once', async () => {
  const long = streamAnswer(`${'Zebras live in Africa. '.repeat(60)}[1]`);
  const { session, bodies, server } = await served([long, tooLong, streamAnswer(SENTENCE), tooLong], {
    policy: 'never',
    maxTokens: 200,
  });
  await askAndWait(session, 'What is a zebra?');
  const { turn, events } = await askAndWait(session, 'Where do they live?');
  expect(turn?.response).toMatchObject({ answer: 'A zebra is a striped horse.', error: null });
  expect(notices(events)).toEqual([expect.stringContaining('1100 tokens')]);
  expect(bodies[1]).toContain('What is a zebra?');
  expect(bodies[2]).not.toContain('What is a zebra?');
  expect(bodies[2]).toContain('Where do they live?');
  // A request that is still too long is an error.
  const third = await askAndWait(session, 'Why?');
  expect(third.events.at(-1)).toMatchObject({ type: 'error', error: { errorType: 'context_overflow' } });
  expect(server.requests()).toBeLessThanOrEqual(5);
});

test.each([
  [
    'shown',
    startStream([], (r) =>
      r.end(formatStreamEvent({ choices: [{ index: 0, delta: { reasoning: 'Hm.' } }] }) + finish('length')),
    ),
    {},
  ],
  [
    'hidden',
    startStream([], (r) =>
      r.end(
        finish('length', {
          prompt_tokens: 9,
          completion_tokens: 9,
          completion_tokens_details: { reasoning_tokens: 9 },
        }),
      ),
    ),
    {},
  ],
  [
    'of Responses',
    incomplete('max_output_tokens', [{ type: 'reasoning', summary: [] }]),
    { api: 'responses' as const },
  ],
])(
  'reports reasoning (%s) that left no tokens for an answer, without a retry',
  async (_, thinking, config) => {
    const { session, server } = await served([thinking], config);
    const { events } = await askAndWait(session, 'What is a zebra?');
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      error: {
        message: expect.stringContaining('for reasoning'),
        userMessage: expect.stringContaining('Raise maxTokens'),
      },
    });
    expect(server.requests()).toBe(1);
  },
);

const forEver = (piece: string): RequestListener =>
  startStream([], (response) => {
    const timer = setInterval(() => response.write(piece), 5);
    response.on('close', () => clearInterval(timer));
  });

test.each([
  ['keep-alive comments', ': wait\n\n', { maxTurnSeconds: 1 }, /no answer after 1 second/],
  ['a line', 'x'.repeat(1000), { maxEventBytes: 20_000 }, /an event of more than 20000 bytes/],
  [
    'an answer',
    formatStreamEvent({ choices: [{ index: 0, delta: { content: 'na '.repeat(40) } }] }),
    { maxAnswerCharacters: 1000 },
    /after 1000 characters/,
  ],
  [
    'thoughts',
    formatStreamEvent({ choices: [{ index: 0, delta: { reasoning: 'hm '.repeat(300) } }] }),
    { maxAnswerCharacters: 100 },
    /more than 40000 bytes/,
  ],
])('stops %s that does not end', async (_, piece, config, sentence) => {
  const { session } = await served([forEver(piece)], config);
  const { events } = await askAndWait(session, 'What is a zebra?');
  expect(events.at(-1)).toMatchObject({
    type: 'error',
    error: { errorType: 'api_error', message: expect.stringMatching(sentence) },
  });
});

test('limits the length of an answer that is not streamed', async () => {
  const { session } = await served([respondWithJson(`{"choices": "${'x'.repeat(60_000)}"}`)], {
    maxAnswerCharacters: 100,
  });
  const { events } = await askAndWait(session, 'What is a zebra?');
  expect(events.at(-1)).toMatchObject({
    error: { message: expect.stringContaining('more than 40000 bytes') },
  });
});

test('no request is larger than the window, with its tools and their framing', async () => {
  const pages = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [
      `farm/Page ${i} of the long book`,
      `Cow ${i} says "moo" \\ and eats. `.repeat(20),
    ]),
  );
  const model = new ScriptedModel([
    ...['cow', 'moo', 'eats'].map((query, i) => [
      functionCall('retrieve_context', { query, top_k: 20, threshold: 0 }, { callId: `c${i}` }),
    ]),
    [assistantMessage('Cows eat. [1]')],
  ]);
  const config = {
    ...{ toolName: 'retrieve_context' as const, contextWindow: 4096, maxTokens: 500 },
    ...{ topK: 20, readSource: true },
  };
  const session = await createTestAgent(await createSmallLibrary(pages), model, { config }).startSession();
  await askAndWait(session, 'What do cows eat?');
  expect(model.calls).toHaveLength(4);
  for (const { request } of model.calls) {
    const { systemInstructions, input, tools } = request;
    expect(JSON.stringify({ systemInstructions, input, tools }).length / 4 + 500).toBeLessThanOrEqual(4096);
  }
});

test('a window that the service does not report is learned from the first overflow and kept', async () => {
  const sizes: number[] = [];
  const limited = {
    getResponse: async () => {
      throw new Error('not used');
    },
    async *getStreamedResponse(request: { input: unknown }) {
      sizes.push(JSON.stringify(request.input).length);
      if ((sizes.at(-1) ?? 0) > 6000) {
        throw new AppError('context_overflow', 'The prompt is too long.');
      }
      yield { type: 'response_started' as const };
      yield {
        type: 'response_done' as const,
        response: {
          id: 'r',
          output: [assistantMessage('Cows eat grass and hay. [1]')],
          usage: { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 },
        },
      };
    },
  };
  const config = { policy: 'always' as const, contextWindow: 100_000, maxTokens: 100, topK: 20 };
  const library = await createSmallLibrary(FARM);
  const session = await createTestAgent(library, limited as never, { config }).startSession();
  const first = await askAndWait(session, 'cow goat sheep');
  expect(first.turn?.response.answer).toContain('hay');
  expect(sizes.length).toBe(2);
  await askAndWait(
    await createTestAgent(library, limited as never, { config }).startSession(),
    'cow goat sheep',
  );
  const before = sizes.length;
  session.reset();
  await askAndWait(session, 'cow goat sheep');
  // The second question of the session fits at once.
  expect(sizes.length).toBe(before + 1);
});
