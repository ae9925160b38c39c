import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConversationMessage } from '../../src/domain/conversation-message.ts';
import { fitHistory, splitWindow } from '../../src/domain/token-budget.ts';
import { conversations, NOW } from './arbitraries.ts';

const tokensOf = (messages: readonly ConversationMessage[]) =>
  messages.filter(({ role }) => role !== 'system').reduce((sum, { tokenCount }) => sum + tokenCount, 0);

const callIds = (messages: readonly ConversationMessage[]) =>
  messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : []));

const isSaid = (message: ConversationMessage) =>
  message.role === 'user' || (message.role === 'assistant' && message.toolCalls.length === 0);

const resultIds = (messages: readonly ConversationMessage[]) =>
  messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : []));

test('divides a window of 8192 tokens as documented', () => {
  expect(splitWindow(8192)).toEqual({ system: 500, retrieved: 4000, history: 2500, exchange: 1192 });
});

test('shares scale with the window and add up to it', () => {
  expect(splitWindow(16384)).toEqual({ system: 1000, retrieved: 8000, history: 5000, exchange: 2384 });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 2_000_000 }), (window) => {
      const shares = Object.values(splitWindow(window));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(window);
      expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
    }),
  );
});

test('keeps within the limits, keeps the system message and drops the oldest first', () => {
  fc.assert(
    fc.property(
      conversations,
      fc.nat(400),
      fc.integer({ min: 1, max: 30 }),
      (history, maxTokens, maxMessages) => {
        const { messages } = fitHistory(history, { maxTokens, maxMessages });
        expect(tokensOf(messages)).toBeLessThanOrEqual(maxTokens);
        expect(messages.filter(isSaid).length).toBeLessThanOrEqual(maxMessages);
        expect(messages[0]).toBe(history[0]);
        expect(messages.slice(1)).toEqual(history.slice(history.length - messages.length + 1));
      },
    ),
  );
});

test('never separates a tool call from its results', () => {
  fc.assert(
    fc.property(conversations, fc.nat(400), (history, maxTokens) => {
      const { messages } = fitHistory(history, { maxTokens });
      expect(resultIds(messages).sort()).toEqual(callIds(messages).sort());
    }),
  );
});

test('keeps a history that fits', () => {
  fc.assert(
    fc.property(conversations, (history) => {
      const fitted = fitHistory(history, { maxTokens: tokensOf(history), maxMessages: history.length });
      expect(fitted).toEqual({ messages: history, exceeded: null });
    }),
  );
});

test('drops incomplete tool calls of an interrupted turn', () => {
  fc.assert(
    fc.property(conversations, fc.infiniteStream(fc.boolean()), (history, keep) => {
      const torn = history.filter(({ role }) => role === 'system' || keep.next().value);
      const { messages } = fitHistory(torn, { maxTokens: Number.POSITIVE_INFINITY });
      expect(resultIds(messages).sort()).toEqual(callIds(messages).sort());
    }),
  );
});

test('rounds shares down and gives the rest to the exchange', () => {
  expect(splitWindow(100)).toEqual({ system: 6, retrieved: 48, history: 30, exchange: 16 });
  expect(splitWindow(2)).toEqual({ system: 0, retrieved: 0, history: 0, exchange: 2 });
});

const common = { timestamp: NOW, citations: [], metadata: {} };
const system: ConversationMessage = { ...common, id: 's', role: 'system', content: 's', tokenCount: 1000 };
const user = (id: string, tokenCount: number): ConversationMessage => ({
  ...common,
  id,
  role: 'user',
  content: id,
  tokenCount,
});
const calls = (id: string, ...ids: string[]): ConversationMessage => ({
  ...common,
  id,
  role: 'assistant',
  content: null,
  tokenCount: 10,
  toolCalls: ids.map((call) => ({ id: call, name: 'search_docs', arguments: '{}' })),
});
const result = (id: string, toolCallId: string): ConversationMessage => ({
  ...common,
  id,
  role: 'tool',
  content: id,
  name: 'search_docs',
  toolCallId,
  tokenCount: 10,
});
const kept = (history: ConversationMessage[], limits: { maxTokens: number; maxMessages?: number }) =>
  fitHistory(history, limits)
    .messages.map(({ id }) => id)
    .join(' ');

test('keeps exactly as much as fits, without counting the system message', () => {
  const history = [system, user('a', 10), user('b', 20), user('c', 30)];
  expect(kept(history, { maxTokens: 60 })).toBe('s a b c');
  expect(kept(history, { maxTokens: 59 })).toBe('s b c');
  expect(kept(history, { maxTokens: 50 })).toBe('s b c');
  expect(kept(history, { maxTokens: 49 })).toBe('s c');
  expect(kept(history, { maxTokens: 29 })).toBe('s');
  expect(kept(history, { maxTokens: 60, maxMessages: 3 })).toBe('s a b c');
  expect(kept(history, { maxTokens: 60, maxMessages: 2 })).toBe('s b c');
});

test('keeps nothing older than a dropped message', () => {
  const history = [system, user('small', 1), user('large', 50), user('new', 10)];
  const fitted = fitHistory(history, { maxTokens: 40 });
  expect(fitted.messages.map(({ id }) => id)).toEqual(['s', 'new']);
});

test('drops calls with their results, and does not count them as messages', () => {
  const history = [system, user('a', 10), calls('ask', 'x', 'y'), result('rx', 'x'), result('ry', 'y')];
  history.push(user('q', 10));
  expect(kept(history, { maxTokens: 50, maxMessages: 2 })).toBe('s a ask rx ry q');
  expect(kept(history, { maxTokens: 50, maxMessages: 1 })).toBe('s q');
  expect(kept(history, { maxTokens: 39, maxMessages: 2 })).toBe('s q');
});

test('drops unmatched tool calls and results', () => {
  const all = { maxTokens: 1000 };
  const start = [system, user('q', 1)];
  expect(kept([...start, calls('ask', 'x'), result('other', 'z'), result('rx', 'x')], all)).toBe(
    's q ask rx',
  );
  expect(kept([...start, calls('ask', 'x'), result('rx', 'x'), result('again', 'x')], all)).toBe(
    's q ask rx',
  );
  expect(kept([...start, calls('ask', 'x', 'y'), result('rx', 'x'), user('p', 1)], all)).toBe('s q p');
  expect(kept([...start, calls('ask', 'x'), user('p', 1), result('late', 'x')], all)).toBe('s q p');
});

test('a history that was cut starts with a question', () => {
  const answer: ConversationMessage = {
    ...common,
    id: 'a',
    role: 'assistant',
    content: 'a',
    toolCalls: [],
    tokenCount: 10,
  };
  const history = [system, user('p', 10), answer, user('q', 10)];
  expect(kept(history, { maxTokens: 100, maxMessages: 3 })).toBe('s p a q');
  expect(kept(history, { maxTokens: 100, maxMessages: 2 })).toBe('s q');
  expect(kept(history, { maxTokens: 25 })).toBe('s q');
});
