import { randomUUID } from 'node:crypto';
import type { AgentInputItem } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { expect, test } from 'vitest';
import { createOfflineModel } from '../../src/adapters/offline/offline-model.ts';
import { createMemorySessionStore } from '../../src/adapters/sqlite/sqlite-session-store.ts';
import { retrievalToolResponseSchema } from '../../src/domain/retrieval-tool-response.ts';
import { createSmallLibrary } from '../support/small-library.ts';
import { askAndWait, createTestAgent } from '../support/test-agent.ts';

const BOOK = {
  'animals/Zebras': 'A zebra is a striped horse. Zebras live in Africa and sleep standing.',
  'animals/Owls': 'An owl hunts at night. Owls live in forests.',
  'plants/Oaks': 'An oak is a tall tree. Oaks live for 600 years.',
};

const search = (query: string, callId: string) =>
  functionCall('search_docs', { query, top_k: 5, module: null, threshold: 0 }, { callId });

function inputs(model: ScriptedModel): AgentInputItem[][] {
  return model.calls.map(({ request }) => (typeof request.input === 'string' ? [] : request.input));
}

/** The tool results in a request, validated. */
function shownIn(items: readonly AgentInputItem[]) {
  return items
    .flatMap((item) => (item.type === 'function_call_result' ? [item.output] : []))
    .map((output) =>
      retrievalToolResponseSchema.parse(
        JSON.parse(typeof output === 'string' ? output : (output as { text: string }).text),
      ),
    );
}

test('keeps the cited results of a past turn and the number of others', async () => {
  const model = new ScriptedModel([
    [search('owl', 'a')],
    [assistantMessage('Owls live in forests. [1]')],
    [assistantMessage('As I said, owls live in forests. [1]')],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  const { turn: asked } = await askAndWait(session, 'Where do owls live?');
  const marker = asked?.response.citations[0]?.marker;
  const { turn } = await askAndWait(session, 'Where again?');

  const [, answering = [], later = []] = inputs(model);
  const [whole] = shownIn(answering);
  const [carried] = shownIn(later);
  expect(whole?.results).toHaveLength(3);
  expect(carried).toMatchObject({
    results: whole?.results.filter(({ ref }) => ref === marker),
    total: 1,
    query: 'owl',
    left_out: { reason: 'not_cited', count: 2 },
  });
  // A source of an earlier turn is cited and passes.
  expect(turn?.response).toMatchObject({ grounded: true, citations: [{ marker, verdict: 'supported' }] });
  const stored = session.snapshot().messages.find(({ role }) => role === 'tool');
  expect(retrievalToolResponseSchema.parse(JSON.parse(stored?.content ?? ''))).toEqual(whole);
});

test('merges the searches of a past turn; without citations only the number stays', async () => {
  const model = new ScriptedModel([
    [search('oak', 'a')],
    [assistantMessage('I do not know.')],
    [search('oak', 'b'), search('owl', 'c')],
    [search('owls at night', 'd')],
    [assistantMessage('An owl hunts at night. [Source: Owls]')],
    [assistantMessage('Bye.')],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  for (const question of ['Oaks?', 'Owls?', 'Thanks']) await askAndWait(session, question);
  const last = inputs(model).at(-1) ?? [];
  expect(shownIn(last)).toMatchObject([
    { results: [], total: 0, left_out: { reason: 'not_cited', count: 3 } },
    { results: [{ title: 'Owls' }], total: 1, left_out: { reason: 'not_cited', count: 2 } },
  ]);
  expect(last.filter((item) => item.type === 'function_call')).toHaveLength(2);
});

test('keeps an empty search result unchanged', async () => {
  const model = new ScriptedModel([
    [functionCall('search_docs', { query: 'submarine', top_k: null, module: null }, { callId: 'a' })],
    [assistantMessage('I do not know.')],
    [assistantMessage('Bye.')],
  ]);
  const session = await createTestAgent(await createSmallLibrary(BOOK), model).startSession();
  for (const question of ['Submarines?', 'Thanks']) await askAndWait(session, question);
  const [, answering = [], later = []] = inputs(model);
  expect(shownIn(later)).toEqual(shownIn(answering));
});

test('each prompt begins with the previous one, also after a resume', async () => {
  const library = await createSmallLibrary(BOOK);
  const sessions = createMemorySessionStore();
  const script = ['zebra', 'owl', 'oak'].flatMap((subject) => [
    [search(subject, subject)],
    [assistantMessage(`About the ${subject}. [1]`)],
  ]);
  const model = new ScriptedModel([...script, [assistantMessage('Bye.')]]);
  const session = await createTestAgent(library, model, { sessions }).startSession();
  for (const question of ['Zebra?', 'Owl?', 'Oak?', 'Thanks']) await askAndWait(session, question);
  const opening = inputs(model).filter((items) => items.at(-1)?.type !== 'function_call_result');
  expect(opening).toHaveLength(4);
  opening.reduce((before, items) => {
    expect(items.slice(0, before.length)).toEqual(before);
    return items;
  });

  const again = new ScriptedModel([[assistantMessage('Bye again.')]]);
  await askAndWait(await createTestAgent(library, again, { sessions }).resumeSession(session.id), 'Hello?');
  const last = opening.at(-1) ?? [];
  expect(inputs(again)[0]?.slice(0, last.length)).toEqual(last);
});

test('the offline model resolves a follow-up from the compacted history', async () => {
  const model = createOfflineModel({ newId: randomUUID });
  const config = { toolName: 'retrieve_context' } as const;
  const session = await createTestAgent(await createSmallLibrary(BOOK), model, { config }).startSession();
  await askAndWait(session, 'What is a zebra?');
  await askAndWait(session, 'Where do they sleep?');
  const { turn } = await askAndWait(session, 'And where do they live?');
  expect(turn?.retrievals[0]?.query).toContain('zebra');
});
