import { assistantMessage, functionCall, modelError, ScriptedModel } from '@openai/agents/testing';
import { expect, test } from 'vitest';
import { createMemorySessionStore } from '../../src/adapters/sqlite/sqlite-session-store.ts';
import { conversationSessionSchema } from '../../src/domain/conversation-session.ts';
import { conversationTurnSchema } from '../../src/domain/conversation-turn.ts';
import { retrievalToolResponseSchema } from '../../src/domain/retrieval-tool-response.ts';
import { runEventSchema } from '../../src/domain/run-event.ts';
import { AppError } from '../../src/faults/app-error.ts';
import { createSmallLibrary } from '../support/small-library.ts';
import { askAndWait, createTestAgent } from '../support/test-agent.ts';

const BOOK = {
  'animals/Zebras': 'A zebra is a striped horse. Zebras live in Africa. They eat 40 kilograms of grass.',
  'animals/Owls': 'An owl hunts at night. Owls see well in the dark.',
  'plants/Oaks': 'An oak is a tall tree. Oaks live for 600 years.',
};

const search = (query: string, more: object = {}, callId = `call-${query}`) =>
  functionCall('search_docs', { query, top_k: null, module: null, ...more }, { callId });

/** The tool results that the model received, in order. */
function toolResults(model: ScriptedModel) {
  const input = model.calls.at(-1)?.request.input;
  return (typeof input === 'string' || input === undefined ? [] : input)
    .flatMap((item) => (item.type === 'function_call_result' ? [item.output] : []))
    .map((output) =>
      retrievalToolResponseSchema.parse(
        JSON.parse(typeof output === 'string' ? output : (output as { text: string }).text),
      ),
    );
}

test('records the messages, searches and counts of a turn', async () => {
  const model = new ScriptedModel([[search('zebra')], [assistantMessage('A zebra is a striped horse. [1]')]]);
  const sessions = createMemorySessionStore();
  const session = await createTestAgent(await createSmallLibrary(BOOK), model, { sessions }).startSession();
  const { events, turn } = await askAndWait(session, 'What is a zebra?');

  expect(turn?.response).toMatchObject({
    answer: 'A zebra is a striped horse. [1]',
    grounded: true,
    // Unknown without an encoder.
    confidence: 'high',
    checkedBy: 'words',
    retrievalPerformed: true,
    retrievalCount: 1,
    turnNumber: 1,
    model: 'scripted',
    citations: [{ marker: '1', title: 'Zebras', verdict: 'quoted' }],
  });
  expect(conversationTurnSchema.parse(turn).decisions).toMatchObject([
    { step: 1, searched: true, query: 'zebra', cited: [turn?.response.citations[0]?.chunkId] },
    { step: 2, searched: false },
  ]);
  const snapshot = conversationSessionSchema.parse(session.snapshot());
  expect(snapshot.messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
  expect(snapshot).toMatchObject({ status: 'active', turnCount: 1, retrievalCount: 1 });
  expect((await sessions.load(session.id))?.session).toEqual(snapshot);
  for (const event of events) runEventSchema.parse(event);
});

test('emits connected phase changes and ends idle', async () => {
  const model = new ScriptedModel([[search('zebra')], [assistantMessage('Striped.')]]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  const { events } = await askAndWait(session, 'Zebra?');
  const phases = events.filter((event) => event.type === 'phase');
  let current = 'idle';
  for (const { from, to } of phases) {
    expect(from).toBe(current);
    current = to;
  }
  expect(current).toBe('idle');
  expect(phases.map(({ to }) => to)).toEqual(['generating', 'retrieving', 'generating', 'idle']);
});

test('removes terminal escapes from events, answers and records', async () => {
  const model = new ScriptedModel([
    [assistantMessage('\x1b]0;owned\x07Hello, \x1b[31mred\x1b[0m\u202e world.\x07')],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  const { events, turn } = await askAndWait(session, 'Hi');
  expect(turn?.response.answer).toBe('Hello, red world.');
  const deltas = events.flatMap((event) => (event.type === 'text_delta' ? [event.delta] : []));
  expect(deltas.join('')).toBe('Hello, red world.');
  expect(session.snapshot().messages.at(-1)?.content).toBe('Hello, red world.');
});

test('an answer without a search is not grounded', async () => {
  const session = await createTestAgent(
    await createSmallLibrary(BOOK),
    new ScriptedModel([[assistantMessage('Hello!')]]),
  ).startSession();
  const { turn } = await askAndWait(session, 'Hi');
  expect(turn?.response).toMatchObject({
    retrievalPerformed: false,
    retrievalCount: 0,
    grounded: false,
    confidence: 'none',
  });
  expect(session.snapshot().retrievalCount).toBe(0);
});

test('returns invalid tool arguments to the model with the reason', async () => {
  const model = new ScriptedModel([
    [functionCall('search_docs', { query: '', top_k: 99 }, { callId: 'bad' })],
    [search('owl')],
    [assistantMessage('An owl hunts at night. [1]')],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  const { turn } = await askAndWait(session, 'Owls?');
  expect(turn?.response.grounded).toBe(true);
  const [bad, good] = toolResults(model);
  expect(bad).toMatchObject({
    results: [],
    error: 'invalid_arguments',
    message: expect.stringMatching(/query: .*top_k: /),
  });
  expect(good?.total).toBeGreaterThan(0);
});

test('rejects unknown tool arguments by name', async () => {
  const library = await createSmallLibrary(BOOK);
  const model = new ScriptedModel([
    [
      functionCall(
        'search_docs',
        { query: 'owl', top_k: 1, module: null, path: '/etc/passwd' },
        { callId: 'c' },
      ),
    ],
    [assistantMessage('Night.')],
  ]);
  const session = await createTestAgent(library, model).startSession();
  const { events } = await askAndWait(session, 'Owls?');
  expect(events.some(({ type }) => type === 'retrieval_started')).toBe(false);
  expect(toolResults(model)[0]).toMatchObject({
    error: 'invalid_arguments',
    message: expect.stringContaining('"path"'),
  });
});

test('the tool schema contains the bounds and modules that arguments are checked against', async () => {
  const model = new ScriptedModel([
    [search('owl', { module: 'minerals' }, 'a')],
    [search('owl', { module: 'animals' }, 'b')],
    [assistantMessage('An owl hunts at night. [1]')],
    [search('oak', { module: 'animals' }, 'c')],
    [assistantMessage('None.')],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  await askAndWait(session, 'Owls?');
  expect(model.calls[0]?.request.tools[0]).toMatchObject({
    strict: false,
    parameters: {
      required: ['query'],
      additionalProperties: false,
      properties: {
        query: { type: 'string' },
        top_k: { type: 'integer', minimum: 1, maximum: 20, description: expect.stringContaining('5') },
        module: { type: 'string', enum: ['animals', 'plants'] },
      },
    },
  });
  // Accepted, but not offered.
  expect(model.calls[0]?.request.tools[0]).not.toHaveProperty('parameters.properties.threshold');
  const [unknown, known] = toolResults(model);
  expect(unknown).toMatchObject({ error: 'invalid_arguments', message: expect.stringContaining('animals') });
  expect(known?.total).toBeGreaterThan(0);
  // The model cannot widen the filter of the user.
  await askAndWait(session, 'Oaks?', { filter: { module: ['plants'] } });
  expect(toolResults(model).at(-1)).toMatchObject({ error: 'invalid_arguments' });
});

test('applies the threshold that the model gives', async () => {
  const model = new ScriptedModel([
    [search('zebra owl oak', { threshold: 0 }, 'a')],
    [search('zebra owl oak', { threshold: 0.99 }, 'b')],
    [search('zebra owl oak', {}, 'c')],
    [assistantMessage('Hm.')],
  ]);
  await askAndWait(await createTestAgent(await createSmallLibrary(BOOK), model).startSession(), 'All?');
  const [all, none, usual] = toolResults(model);
  expect(all?.total).toBe(3);
  expect(none).toMatchObject({ total: 0, empty: { reason: 'below_threshold', threshold: 0.99 } });
  expect(usual?.results.every(({ score }) => score >= 0.2)).toBe(true);
});

test('reports malformed tool JSON and unknown tools to the model and continues', async () => {
  const model = new ScriptedModel([
    [
      {
        type: 'function_call',
        callId: 'x',
        name: 'search_docs',
        arguments: '{"query": ',
        status: 'completed',
      },
    ],
    [functionCall('launch_rockets', {}, { callId: 'y' })],
    [assistantMessage('Sorry, I cannot.')],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  const { turn } = await askAndWait(session, 'Owls?');
  expect(turn?.response.answer).toBe('Sorry, I cannot.');
  expect(toolResults(model)).toMatchObject([
    { error: 'invalid_arguments', message: expect.stringContaining('not valid JSON'), results: [] },
    { error: 'unknown_tool', message: expect.stringContaining('launch_rockets'), results: [] },
  ]);
});

test('an empty result contains the reason and the nearest miss', async () => {
  const model = new ScriptedModel([
    [search('submarine')],
    [assistantMessage("I don't have information about submarines.")],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  const { turn } = await askAndWait(session, 'Submarines?');
  expect(turn?.response).toMatchObject({ grounded: false, retrievalCount: 1 });
  expect(toolResults(model)[0]).toMatchObject({
    results: [],
    total: 0,
    empty: { reason: expect.any(String) },
  });
});

test('returns a failed search to the model instead of ending the turn', async () => {
  const library = await createSmallLibrary(BOOK);
  const broken = {
    ...library,
    retriever: { retrieve: () => Promise.reject(new Error('the disk is on fire')) },
  };
  const model = new ScriptedModel([
    [search('owl')],
    [assistantMessage("I don't have information about owls.")],
  ]);
  const session = await createTestAgent(broken, model).startSession();
  const { turn, events } = await askAndWait(session, 'Owls?');
  expect(turn?.response).toMatchObject({
    retrievalCount: 1,
    error: { errorType: 'retrieval_error', message: 'the disk is on fire' },
  });
  expect(toolResults(model)[0]).toMatchObject({
    results: [],
    error: 'retrieval_failed',
    message: expect.stringContaining('on fire'),
  });
  expect(events.find(({ type }) => type === 'retrieval_finished')).toMatchObject({ context: null });
});

test('a turn has no error if a later search succeeds', async () => {
  const library = await createSmallLibrary(BOOK);
  let searches = 0;
  const flaky = {
    ...library,
    retriever: {
      retrieve: (...request: Parameters<typeof library.retriever.retrieve>) =>
        searches++ === 0
          ? Promise.reject(new Error('a cable is loose'))
          : library.retriever.retrieve(...request),
    },
  };
  const model = new ScriptedModel([
    [search('owl', {}, 'a')],
    [search('owls at night', {}, 'b')],
    [assistantMessage('An owl hunts at night. [1]')],
  ]);
  const { turn } = await askAndWait(await createTestAgent(flaky, model).startSession(), 'Owls?');
  expect(turn?.response).toMatchObject({ grounded: true, error: null, retrievalCount: 2 });
});

test('a rejected key ends the turn', async () => {
  const refusal = new AppError('auth_error', 'The key was refused.');
  const broken = {
    ...(await createSmallLibrary(BOOK)),
    retriever: { retrieve: () => Promise.reject(refusal) },
  };
  const model = new ScriptedModel([[search('owl')], [assistantMessage('Never asked for.')]]);
  const { turn, events } = await askAndWait(await createTestAgent(broken, model).startSession(), 'Owls?');
  expect(turn).toBeNull();
  expect(events.at(-1)).toMatchObject({
    type: 'error',
    error: { errorType: 'auth_error', message: 'The key was refused.' },
  });
  expect(toolResults(model)).toEqual([]);
});

test('does not repeat a query within a turn', async () => {
  const library = await createSmallLibrary(BOOK);
  const model = new ScriptedModel([
    [search('owl', {}, 'a')],
    [search('OWL', {}, 'b')],
    [assistantMessage('An owl hunts at night. [1]')],
  ]);
  const session = await createTestAgent(library, model).startSession();
  await askAndWait(session, 'Owls?');
  expect(library.searches()).toBe(1);
  expect(toolResults(model)[1]).toMatchObject({ results: [], empty: { reason: 'repeated_query' } });
});

test('ignores white space and default limits when comparing queries', async () => {
  const library = await createSmallLibrary(BOOK);
  const model = new ScriptedModel([
    [search('owls at night', {}, 'a')],
    [search(' Owls  at night', { top_k: 5 }, 'b')],
    [assistantMessage('An owl hunts at night. [1]')],
  ]);
  const session = await createTestAgent(library, model, { config: { topK: 5 } }).startSession();
  await askAndWait(session, 'Owls?');
  expect(toolResults(model).at(-1)).toMatchObject({ results: [], empty: { reason: 'repeated_query' } });
  expect(library.searches()).toBe(1);
});

test('says when a search returns only known passages', async () => {
  const model = new ScriptedModel([
    [search('owl night', {}, 'a')],
    [search('owls hunting in the night', {}, 'b')],
    [assistantMessage('An owl hunts at night. [1]')],
  ]);
  const session = await createTestAgent(
    await createSmallLibrary({ 'a/Owls': BOOK['animals/Owls'] }),
    model,
  ).startSession();
  await askAndWait(session, 'Owls?');
  expect(toolResults(model)[1]?.message).toContain('returned before');
});

test('withholds the tool in the last step', async () => {
  const model = new ScriptedModel([
    [search('a zebra', {}, '1')],
    [search('b zebra', {}, '2')],
    [assistantMessage('A zebra is a striped horse. [1]')],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model, {
    config: { maxSteps: 3 },
  }).startSession();
  const { turn } = await askAndWait(session, 'Zebra?');
  expect(model.calls.map(({ request }) => request.tools.length)).toEqual([1, 1, 0]);
  expect(toolResults(model)[1]?.message).toContain('last search');
  expect(turn?.response.grounded).toBe(true);
});

test('stops a model that keeps calling tools', async () => {
  const model = new ScriptedModel(Array.from({ length: 20 }, (_, i) => [search(`zebra ${i}`, {}, `c${i}`)]));
  const session = await createTestAgent(await createSmallLibrary(BOOK), model, {
    config: { maxSteps: 3 },
  }).startSession();
  const { turn } = await askAndWait(session, 'Zebra?');
  expect(turn?.response).toMatchObject({
    answer: 'I could not come to an answer within 3 steps.',
    finishReason: 'max_steps',
    grounded: false,
    error: { errorType: 'api_error', userMessage: expect.stringContaining('maxSteps') },
  });
  expect(toolResults(model).at(-1)).toMatchObject({ error: 'unknown_tool' });
  expect(model.calls.length).toBeLessThanOrEqual(6);
});

test('search_docs cuts long passages and says so, retrieve_context returns whole ones', async () => {
  const long = `A yak is a large ox. ${'It has long hair and lives in the mountains. '.repeat(20)}`;
  for (const toolName of ['search_docs', 'retrieve_context'] as const) {
    const model = new ScriptedModel([
      [functionCall(toolName, { query: 'yak' }, { callId: 'c' })],
      [assistantMessage('Ok.')],
    ]);
    const session = await createTestAgent(await createSmallLibrary({ 'a/Yaks': long }), model, {
      config: { toolName },
    }).startSession();
    await askAndWait(session, 'Yaks?');
    const [result] = toolResults(model)[0]?.results ?? [];
    expect(result?.text.length).toBeGreaterThan(500);
    if (toolName === 'search_docs') {
      expect(result?.text.length).toBeLessThanOrEqual(800);
      expect(result).toMatchObject({ truncated: true });
    } else {
      expect(result?.text.length).toBeGreaterThan(800);
      expect(result).not.toHaveProperty('truncated');
    }
  }
});

test('read_source returns the passages around a hit with their refs', async () => {
  const text = Array.from({ length: 8 }, (_, i) => `Part ${i} ${`speaks of subject${i} `.repeat(60)}.`).join(
    ' ',
  );
  const model = new ScriptedModel([
    [search('subject4')],
    [functionCall('read_source', { ref: '1' }, { callId: 'r' })],
    [functionCall('read_source', { ref: '99' }, { callId: 's' })],
    [assistantMessage('Done.')],
  ]);
  const session = await createTestAgent(await createSmallLibrary({ 'a/Long': text }), model, {
    readSource: true,
  }).startSession();
  const { turn } = await askAndWait(session, 'Subject 4?');
  // One search and two reads: every tool execution counts.
  expect(turn?.response).toMatchObject({ retrievalPerformed: true, retrievalCount: 3 });
  expect(session.snapshot().retrievalCount).toBe(3);
  const outputs = session
    .snapshot()
    .messages.filter((message) => message.role === 'tool' && message.name === 'read_source')
    .map(({ content }) => JSON.parse(content ?? ''));
  expect(outputs[0].results.length).toBeGreaterThan(1);
  expect(new Set(outputs[0].results.map(({ ref }: { ref: string }) => ref)).size).toBe(
    outputs[0].results.length,
  );
  expect(outputs[1]).toMatchObject({
    results: [],
    error: 'unknown_ref',
    message: expect.stringContaining('99'),
  });
});

test('policy always retrieves before the model call and offers no tool', async () => {
  const model = new ScriptedModel([[assistantMessage('A zebra is a striped horse. [1]')]]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model, {
    config: { policy: 'always' },
  }).startSession();
  const { turn } = await askAndWait(session, 'What is a zebra?');
  expect(turn?.response).toMatchObject({ grounded: true, retrievalCount: 1 });
  const [call] = model.calls;
  expect(call?.request.tools).toEqual([]);
  expect(JSON.stringify(call?.request.input)).toContain('<source ref=\\"1\\" title=\\"Zebras\\"');
  expect(session.snapshot().messages.map(({ content }) => content)).toEqual([
    expect.any(String),
    'What is a zebra?',
    'A zebra is a striped horse. [1]',
  ]);
});

test('policy always has the model rewrite a follow-up as a query', async () => {
  const model = new ScriptedModel([
    [assistantMessage('A zebra is a striped horse. [1]')],
    [assistantMessage('Where do zebras live?')],
    [assistantMessage('Zebras live in Africa. [1]')],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model, {
    config: { policy: 'always' },
  }).startSession();
  await askAndWait(session, 'What is a zebra?');
  const { events } = await askAndWait(session, 'Where do they live?');
  expect(events.find(({ type }) => type === 'retrieval_started')).toMatchObject({
    query: 'Where do zebras live?',
  });
});

test('policy first forces the tool in the first step, policy never offers none', async () => {
  const forced = new ScriptedModel([[search('zebra')], [assistantMessage('Striped.')]]);
  const library = await createSmallLibrary(BOOK);
  await askAndWait(
    await createTestAgent(library, forced, { config: { policy: 'first' } }).startSession(),
    'Zebra?',
  );
  expect(forced.calls.map(({ request }) => request.modelSettings.toolChoice)).toEqual([
    'search_docs',
    undefined,
  ]);

  const never = new ScriptedModel([[assistantMessage('No idea.')]]);
  const session = await createTestAgent(library, never, { config: { policy: 'never' } }).startSession();
  const { turn } = await askAndWait(session, 'Zebra?');
  expect(never.calls[0]?.request.tools).toEqual([]);
  expect(turn?.response.retrievalPerformed).toBe(false);
});

test('applies the filter to every search of the turn', async () => {
  const model = new ScriptedModel([[search('live')], [assistantMessage('Oaks live for 600 years. [1]')]]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  const { turn } = await askAndWait(session, 'Who lives?', { filter: { module: ['plants'] } });
  expect(turn?.retrievals[0]?.chunks.map(({ module }) => module)).toEqual(['plants']);
});

test('removes and reports citations of sources that were not retrieved', async () => {
  const model = new ScriptedModel([
    [search('zebra')],
    [
      assistantMessage(
        'A zebra is a striped horse. [1] The moon is cheese. [Source: Moon](https://evil.example/moon)',
      ),
    ],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  const { turn } = await askAndWait(session, 'Zebra?');
  expect(turn?.response.answer).not.toContain('evil.example');
  expect(turn?.response.citations.map(({ verdict }) => verdict).toSorted()).toEqual([
    'quoted',
    'unknown_source',
  ]);
});

test('an answer with a wrong number is not grounded', async () => {
  const model = new ScriptedModel([
    [search('zebra')],
    [assistantMessage('Zebras eat 70 kilograms of grass. [1]')],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  const { turn } = await askAndWait(session, 'How much do zebras eat?');
  expect(turn?.response).toMatchObject({ grounded: false, citations: [{ verdict: 'unsupported' }] });
});

test('a model error ends in an error event and leaves the session unchanged', async () => {
  const model = new ScriptedModel([
    modelError(Object.assign(new Error('401 Incorrect API key'), { status: 401 })),
    [assistantMessage('Hello!')],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  const before = session.snapshot();
  const { events, turn } = await askAndWait(session, 'Hi');
  expect(turn).toBeNull();
  expect(events.at(-1)).toMatchObject({ type: 'error', error: { errorType: 'auth_error' } });
  expect(session.snapshot()).toEqual(before);
  expect((await askAndWait(session, 'Hi')).turn?.response.answer).toBe('Hello!');
});

test('reports an empty answer as an error', async () => {
  const model = new ScriptedModel([[assistantMessage('   ')]]);
  const { events } = await askAndWait(
    await createTestAgent(await createSmallLibrary(BOOK), model).startSession(),
    'Hi',
  );
  expect(events.at(-1)).toMatchObject({ type: 'error', error: { errorType: 'api_error' } });
});

test('an abort ends the turn and records nothing', async () => {
  const stop = new AbortController();
  const model = new ScriptedModel([
    [search('zebra')],
    [assistantMessage('never seen')],
    [assistantMessage('Hello!')],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  const asking = (async () => {
    for await (const event of session.ask('Zebra?', { signal: stop.signal })) {
      if (event.type === 'retrieval_started') stop.abort();
    }
  })();
  await expect(asking).rejects.toMatchObject({ kind: 'interrupted' });
  expect(session.snapshot().turnCount).toBe(0);
});

test('reuses the refs of a turn that was not committed', async () => {
  const model = new ScriptedModel([
    [search('zebra')],
    modelError(new AppError('auth_error', 'No.')),
    [search('oak')],
    [assistantMessage('An oak is a tall tree [1].')],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  expect((await askAndWait(session, 'Zebra?')).events.at(-1)).toMatchObject({ type: 'error' });
  const { turn } = await askAndWait(session, 'Oak?');
  const [best] = turn?.retrievals[0]?.chunks ?? [];
  expect(turn?.response.citations).toMatchObject([{ marker: '1', chunkId: best?.chunkId }]);
});

test('rejects a blank question', async () => {
  const session = await createTestAgent(await createSmallLibrary(BOOK), new ScriptedModel([])).startSession();
  await expect(session.ask('  \n ').next()).rejects.toMatchObject({ kind: 'invalid_input' });
});

test('rejects a question over the length limit', async () => {
  const session = await createTestAgent(
    await createSmallLibrary(BOOK),
    new ScriptedModel([[assistantMessage('Ok.')]]),
  ).startSession();
  await expect(session.ask('a'.repeat(8001)).next()).rejects.toMatchObject({ kind: 'invalid_input' });
  expect((await askAndWait(session, 'a '.repeat(2000))).turn?.response.answer).toBe('Ok.');
});

test('reset keeps the id, the system message and the totals', async () => {
  const model = new ScriptedModel([
    [search('zebra')],
    [assistantMessage('Striped. [1]')],
    [assistantMessage('Hello!')],
  ]);
  const sessions = createMemorySessionStore();
  const session = await createTestAgent(await createSmallLibrary(BOOK), model, { sessions }).startSession();
  await askAndWait(session, 'Zebra?');
  await session.reset();
  expect(session.snapshot()).toMatchObject({
    messages: [{ role: 'system' }],
    turnCount: 0,
    segments: [{ turnCount: 1, retrievalCount: 1 }],
  });
  const { turn } = await askAndWait(session, 'Hi');
  expect(turn?.response.turnNumber).toBe(2);
  expect(JSON.stringify(model.calls.at(-1)?.request.input)).not.toContain('Zebra');
});

test('a resumed session continues with its messages and refs', async () => {
  const library = await createSmallLibrary(BOOK);
  const sessions = createMemorySessionStore();
  const first = new ScriptedModel([[search('zebra')], [assistantMessage('A zebra is a striped horse. [1]')]]);
  const { id } = await createTestAgent(library, first, { sessions })
    .startSession()
    .then(async (session) => {
      await askAndWait(session, 'Zebra?');
      return session;
    });
  const second = new ScriptedModel([[assistantMessage('As I said, a zebra is a striped horse. [1]')]]);
  const resumed = await createTestAgent(library, second, { sessions }).resumeSession(id);
  expect(resumed.lastTurn()?.userQuery).toBe('Zebra?');
  const { turn } = await askAndWait(resumed, 'Say it again');
  expect(turn?.response).toMatchObject({
    grounded: true,
    turnNumber: 2,
    citations: [{ marker: '1', title: 'Zebras' }],
  });
  await expect(createTestAgent(library, second, { sessions }).resumeSession('nope')).rejects.toMatchObject({
    kind: 'invalid_input',
  });
});

test('a completed session rejects questions until it is resumed', async () => {
  const library = await createSmallLibrary(BOOK);
  const sessions = createMemorySessionStore();
  const model = new ScriptedModel([[assistantMessage('Hello!')], [assistantMessage('Hello again!')]]);
  const agent = createTestAgent(library, model, { sessions });
  const session = await agent.startSession({ isInteractive: true });
  await askAndWait(session, 'Hi');
  session.snapshot().messages.length = 0;
  expect(session.snapshot().messages).toHaveLength(3);
  await session.complete();
  expect(await sessions.list()).toMatchObject([{ status: 'completed', isInteractive: true }]);
  await expect(askAndWait(session, 'Hi')).rejects.toMatchObject({ kind: 'invalid_input' });
  await askAndWait(await agent.resumeSession(session.id), 'Hi');
  expect(await sessions.list()).toMatchObject([{ status: 'active', turnCount: 2 }]);
});

test.each([
  ['messages', { maxHistory: 10 }, 'Raise maxHistory'],
  ['tokens', { contextWindow: 2048, maxTokens: 200 }, 'Raise contextWindow'],
])('drops the oldest messages over the limit of %s, with one notice', async (_, limits, remedy) => {
  const turns = 40;
  const model = new ScriptedModel(
    Array.from({ length: turns }, (_, i) => [assistantMessage(`Answer ${i} ${'x'.repeat(400)}`)]),
  );
  const config = { maxTurns: 100, ...limits };
  const session = await createTestAgent(await createSmallLibrary(BOOK), model, { config }).startSession();
  const notices: string[] = [];
  for (let i = 0; i < turns; i += 1) {
    const { events } = await askAndWait(session, `Question ${i}`);
    for (const event of events) if (event.type === 'notice') notices.push(event.message);
  }
  const historyNotices = notices.filter((notice) => notice.includes('oldest messages'));
  expect(historyNotices).toEqual([expect.stringContaining(remedy)]);
  const sizes = model.calls.map(({ request }) => JSON.stringify(request.input).length);
  expect(sizes.at(-1)).toBeLessThan((sizes[10] ?? 0) * 1.1);
  expect(model.calls.at(-1)?.request.input.length).toBeLessThanOrEqual(11);
});

test('rejects questions after maxTurns with a hint', async () => {
  const model = new ScriptedModel([[assistantMessage('One.')]]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model, {
    config: { maxTurns: 1 },
  }).startSession();
  await askAndWait(session, 'One?');
  await expect(session.ask('Two?').next()).rejects.toMatchObject({
    kind: 'invalid_input',
    hint: 'Reset it, start another one, or raise maxTurns.',
  });
});
