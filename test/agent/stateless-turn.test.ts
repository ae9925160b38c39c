import { assistantMessage, functionCall, modelError, ScriptedModel } from '@openai/agents/testing';
import { expect, test } from 'vitest';
import { createMemorySessionStore } from '../../src/adapters/sqlite/sqlite-session-store.ts';
import type { AskOptions } from '../../src/agent/agent.ts';
import {
  type ConversationMessage,
  conversationMessageSchema,
} from '../../src/domain/conversation-message.ts';
import { conversationTurnSchema } from '../../src/domain/conversation-turn.ts';
import type { RunEvent } from '../../src/domain/run-event.ts';
import { createSmallLibrary } from '../support/small-library.ts';
import { createTestAgent } from '../support/test-agent.ts';

const BOOK = {
  'animals/Zebras': 'A zebra is a striped horse. Zebras live in Africa.',
  'animals/Owls': 'An owl hunts at night. Owls see well in the dark.',
};

function message(role: 'user' | 'assistant', content: string): ConversationMessage {
  return conversationMessageSchema.parse({
    id: `${role}-${content}`,
    role,
    content,
    timestamp: new Date().toISOString(),
  });
}

async function answer(
  model: ScriptedModel,
  conversation: { question: string; history?: ConversationMessage[] },
  options: AskOptions = {},
) {
  const sessions = createMemorySessionStore();
  const library = await createSmallLibrary(BOOK);
  const events: RunEvent[] = [];
  const ended = createTestAgent(library, model, { sessions }).answer(
    { history: [], ...conversation },
    (event) => events.push(event),
    options,
  );
  await ended;
  return { events, library, sessions };
}

test('answers a question with its history and stores nothing', async () => {
  const model = new ScriptedModel([
    [functionCall('search_docs', { query: 'owl', top_k: null, module: null }, { callId: 'c' })],
    [assistantMessage('An owl hunts at night. [1]')],
  ]);
  const history = [
    message('user', 'What is a zebra?'),
    message('assistant', 'A zebra is a striped horse. [4]'),
  ];
  const { events, sessions } = await answer(model, { question: ' And an owl? ', history });
  const last = events.at(-1);
  expect(last?.type).toBe('turn_completed');
  const turn = conversationTurnSchema.parse(last?.type === 'turn_completed' ? last.turn : null);
  expect(turn).toMatchObject({
    userQuery: 'And an owl?',
    response: { grounded: true, turnNumber: 1, citations: [{ marker: '1', title: 'Owls' }] },
  });
  // The marker [4] of the history is removed: it would point at another source.
  expect(JSON.stringify(model.calls[0]?.request.input)).toContain('A zebra is a striped horse.');
  expect(JSON.stringify(model.calls[0]?.request.input)).not.toContain('[4]');
  expect(await sessions.list()).toEqual([]);
});

test('applies policy and filter to the question', async () => {
  const always = new ScriptedModel([[assistantMessage('Nothing.')]]);
  const { events } = await answer(
    always,
    { question: 'What is a zebra?' },
    { policy: 'always', filter: { module: ['plants'] } },
  );
  expect(events.find(({ type }) => type === 'retrieval_started')).toMatchObject({
    filter: { module: ['plants'] },
  });
  expect(always.calls[0]?.request.tools).toEqual([]);
});

test('ends with an error event, and rejects an invalid question', async () => {
  const failing = new ScriptedModel([modelError(Object.assign(new Error('no such key'), { status: 401 }))]);
  const { events } = await answer(failing, { question: 'Hi' });
  expect(events.at(-1)).toMatchObject({ type: 'error', error: { errorType: 'auth_error' } });
  await expect(answer(new ScriptedModel([]), { question: '  ' })).rejects.toMatchObject({
    kind: 'invalid_input',
  });
});

test('an abort ends it as interrupted', async () => {
  const stop = AbortSignal.abort();
  await expect(
    answer(new ScriptedModel([[assistantMessage('Hi')]]), { question: 'Hi' }, { signal: stop }),
  ).rejects.toMatchObject({ kind: 'interrupted' });
});
