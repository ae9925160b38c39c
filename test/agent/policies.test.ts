import { randomUUID } from 'node:crypto';
import { type AgentInputItem, Usage } from '@openai/agents-core';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing';
import { expect, test } from 'vitest';
import { createMemorySessionStore } from '../../src/adapters/sqlite/sqlite-session-store.ts';
import { createConversationAgent } from '../../src/agent/create-agent.ts';
import { assertKnownFilter } from '../../src/app/open-collection.ts';
import { agentConfigSchema } from '../../src/domain/agent-config.ts';
import { AppError } from '../../src/faults/app-error.ts';
import { createSmallLibrary } from '../support/small-library.ts';
import { askAndWait, createTestAgent } from '../support/test-agent.ts';

const BOOK = {
  'animals/Zebras': 'A zebra is a striped horse. Zebras live in Africa and sleep standing.',
  'animals/Owls': 'An owl hunts at night. Owls live in forests.',
  'plants/Oaks': 'An oak is a tall tree. Oaks live for 600 years.',
};
let calls = 0;
const search = (query: string, more: object = {}) => {
  calls += 1;
  return functionCall('search_docs', { query, ...more }, { callId: `call-${calls}` });
};

function toolResponses(items: string | AgentInputItem[] | undefined) {
  return (typeof items === 'string' ? [] : (items ?? []))
    .flatMap((item) => (item.type === 'function_call_result' ? [item.output] : []))
    .map((output) => JSON.parse(typeof output === 'string' ? output : (output as { text: string }).text));
}

async function start(model: ScriptedModel, config: object = {}) {
  const library = await createSmallLibrary(BOOK);
  const session = await createTestAgent(library, model, { config }).startSession();
  return { library, session, instructions: () => model.calls.at(-1)?.request.systemInstructions ?? '' };
}

test('each policy has a prompt that is true for it', async () => {
  const prompts = new Map<string, string>();
  for (const policy of ['tool', 'first', 'always', 'never'] as const) {
    const model = new ScriptedModel([
      ...(policy === 'first' ? [[search('owl')]] : []),
      [assistantMessage('Owls hunt at night. [1]')],
    ]);
    const { session, instructions } = await start(model, { policy });
    await askAndWait(session, 'Owls?');
    prompts.set(policy, instructions());
    const tools = model.calls[0]?.request.tools.length;
    expect(tools).toBe(policy === 'tool' || policy === 'first' ? 1 : 0);
  }
  expect(prompts.get('tool')).toMatch(/Search before/);
  expect(prompts.get('first')).toBe(prompts.get('tool'));
  expect(prompts.get('always')).not.toMatch(/Search before/);
  expect(prompts.get('always')).toMatch(/\[1\]/);
  expect(prompts.get('never')).not.toMatch(/\[1\]|animals/);
});

test('a prompt of the user replaces that of every policy', async () => {
  for (const policy of ['tool', 'always', 'never'] as const) {
    const model = new ScriptedModel([[assistantMessage('Night.')]]);
    const { session, instructions } = await start(model, { policy, systemPrompt: 'Be terse.' });
    await askAndWait(session, 'Owls?');
    expect(instructions()).toMatch(/^Be terse\./);
  }
});

test('under always, the model writes the query of every question with rewrite, else only of follow-ups', async () => {
  for (const rewrite of [false, true]) {
    const model = new ScriptedModel([
      ...(rewrite ? [[assistantMessage('owl habits')]] : []),
      [assistantMessage('Owls hunt at night. [1]')],
      [assistantMessage('where owls live')],
      [assistantMessage('In forests. [1]')],
    ]);
    const { session } = await start(model, { policy: 'always', rewrite });
    const first = await askAndWait(session, 'What do they do?');
    const second = await askAndWait(session, 'And where?');
    expect(first.turn?.retrievals[0]?.query).toBe(rewrite ? 'owl habits' : 'What do they do?');
    expect(second.turn?.retrievals[0]?.query).toBe('where owls live');
  }
});

test('asks once more for citations if they are required and the answer has none', async () => {
  const model = new ScriptedModel([
    [search('owl')],
    [assistantMessage('Owls hunt at night.')],
    [assistantMessage('Owls hunt at night. [1]')],
  ]);
  const { session } = await start(model, { requireCitations: true });
  const { turn, events } = await askAndWait(session, 'When do owls hunt?');
  expect(turn?.response).toMatchObject({ grounded: true, answer: 'Owls hunt at night. [1]' });
  expect(events.some(({ type }) => type === 'text_discarded')).toBe(true);
  expect(session.snapshot().messages.map(({ role }) => role)).toEqual([
    ...['system', 'user', 'assistant', 'tool', 'assistant'],
  ]);
});

test.each([
  ['small talk', [[assistantMessage('Hello!')]]],
  ['an abstention', [[search('owl')], [assistantMessage("I don't have information about owls.")]]],
])('does not ask for citations after %s', async (_, script) => {
  const model = new ScriptedModel(script);
  const { session } = await start(model, { requireCitations: true });
  await askAndWait(session, 'Hm?');
  expect(model.calls).toHaveLength(script.length);
});

test('says that results were returned before only if their text is the same', async () => {
  const long = `${'An owl hunts at night and eats mice. '.repeat(40)}${'Owls nest in hollow trees. '.repeat(40)}`;
  const model = new ScriptedModel([
    [search('hunts night mice')],
    [search('nest hollow trees')],
    [search('nests in hollow trees')],
    [assistantMessage('Ok.')],
  ]);
  const library = await createSmallLibrary({ 'animals/Owls': long });
  await askAndWait(await createTestAgent(library, model).startSession(), 'Owls?');
  const [first, second, third] = toolResponses(model.calls.at(-1)?.request.input);
  expect(first.results[0]).toMatchObject({ truncated: true });
  expect(second.results[0].text).not.toBe(first.results[0].text);
  expect(second.message ?? '').not.toMatch(/before/);
  expect(third.results[0].text).toBe(second.results[0].text);
  expect(third.message).toMatch(/returned before/);
});

test('a failed search is not reported as absence', async () => {
  const library = await createSmallLibrary(BOOK);
  const retriever = {
    retrieve: async () => {
      throw new AppError('retrieval_error', 'The embedding service answered 500.');
    },
  };
  const model = new ScriptedModel([[search('owl')], [assistantMessage('The search failed.')]]);
  const session = await createTestAgent({ ...library, retriever }, model).startSession();
  const { turn } = await askAndWait(session, 'Owls?');
  const [failed] = toolResponses(model.calls.at(-1)?.request.input);
  expect(failed).toMatchObject({ error: 'retrieval_failed', results: [] });
  expect(failed.message).toMatch(/500.*not known/);
  expect(failed).not.toHaveProperty('empty');
  expect(turn?.response.error).toMatchObject({ errorType: 'retrieval_error' });
});

test('names the words of a query that no document contains', async () => {
  const model = new ScriptedModel([[search('owl chrony')], [search('owl')], [assistantMessage('Ok.')]]);
  const { session } = await start(model);
  const { turn } = await askAndWait(session, 'Owls?');
  const [absent, present] = toolResponses(model.calls.at(-1)?.request.input);
  expect(absent.message).toBe('No document contains "chrony".');
  expect(present.message ?? '').not.toMatch(/No document/);
  expect(turn?.retrievals.map(({ absentWords }) => absentWords)).toEqual([['chrony'], []]);
});

test('leaves out results far below the best one unless top_k is given, and marks weak ones', async () => {
  const model = new ScriptedModel([
    [search('owl hunts at night', { threshold: 0 })],
    [search('owl hunts at night', { threshold: 0, top_k: 3 })],
    [assistantMessage('Ok.')],
  ]);
  const { session } = await start(model);
  await askAndWait(session, 'Owls?');
  const [usual, asked] = toolResponses(model.calls.at(-1)?.request.input);
  expect(usual.total).toBe(2);
  expect(asked.total).toBe(3);
  const weak = asked.results.filter((result: { weak?: true }) => result.weak);
  expect(weak.every(({ score }: { score: number }) => score < 0.1)).toBe(true);
});

test('counts every execution of the tool, and the chunks', async () => {
  const model = new ScriptedModel([
    [search('owl', { top_k: 99 })],
    [search('owl', { top_k: 1 })],
    [search('owl', { top_k: 1 })],
    [assistantMessage('Owls hunt at night. [1]')],
  ]);
  const { session } = await start(model);
  const { turn } = await askAndWait(session, 'Owls?');
  expect(turn?.response).toMatchObject({ retrievalCount: 3, chunkCount: 1, retrievalPerformed: true });
  const { timestamp, totalTimeMs } = turn?.response ?? { timestamp: '', totalTimeMs: 0 };
  expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(
    Date.parse(turn?.timestamp ?? '') + Math.floor(totalTimeMs) - 5,
  );
});

test('without streaming, the service is asked for whole responses', async () => {
  let streamed = 0;
  const whole = {
    getResponse: async () => ({
      usage: new Usage({ inputTokens: 5, outputTokens: 2, totalTokens: 7 }),
      output: [assistantMessage('Owls hunt at night.')],
      responseId: 'r',
    }),
    async *getStreamedResponse() {
      streamed += 1;
      yield { type: 'response_started' };
    },
  };
  const library = await createSmallLibrary(BOOK);
  const agent = createTestAgent(library, whole as never, { config: { stream: false } });
  const { turn } = await askAndWait(await agent.startSession(), 'Owls?');
  expect(streamed).toBe(0);
  expect(turn?.response).toMatchObject({
    answer: 'Owls hunt at night.',
    tokensUsed: { prompt: 5, completion: 2 },
  });
});

test('refuses a filter that the collection cannot pass', async () => {
  const { library } = await start(new ScriptedModel([]));
  const agent = createConversationAgent({
    config: agentConfigSchema.parse({ model: 'scripted' }),
    model: new ScriptedModel([]),
    store: library.store,
    retriever: library.retriever,
    sessions: createMemorySessionStore(),
    runtime: { now: () => new Date(), elapsedMs: () => performance.now(), newId: randomUUID },
    assertFilter: (filter) => assertKnownFilter(library.store, filter),
  });
  const { events } = await askAndWait(await agent.startSession(), 'Owls?', {
    filter: { module: ['minerals'] },
  });
  expect(events.at(-1)).toMatchObject({ type: 'error', error: { errorType: 'invalid_input' } });
});
