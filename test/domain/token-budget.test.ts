import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConversationMessage } from '../../src/domain/conversation-message.ts';
import { fitHistory, splitWindow } from '../../src/domain/token-budget.ts';
import { conversations } from './arbitraries.ts';

const tokensOf = (messages: readonly ConversationMessage[]) =>
  messages.filter(({ role }) => role !== 'system').reduce((sum, { tokenCount }) => sum + tokenCount, 0);

const callIds = (messages: readonly ConversationMessage[]) =>
  messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : []));

const resultIds = (messages: readonly ConversationMessage[]) =>
  messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : []));

test('a window of 8192 tokens is shared out as designed', () => {
  expect(splitWindow(8192)).toEqual({ system: 500, retrieved: 4000, history: 2500, exchange: 1192 });
});

test('the shares scale with the window and always add up to it', () => {
  expect(splitWindow(16384)).toEqual({ system: 1000, retrieved: 8000, history: 5000, exchange: 2384 });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 2_000_000 }), (window) => {
      const shares = Object.values(splitWindow(window));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(window);
      expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
    }),
  );
});

test('a fitted history keeps to its limits, keeps the system message and loses the oldest first', () => {
  fc.assert(
    fc.property(
      conversations,
      fc.nat(400),
      fc.integer({ min: 1, max: 30 }),
      (history, maxTokens, maxMessages) => {
        const { messages, dropped, droppedTokens } = fitHistory(history, { maxTokens, maxMessages });
        expect(tokensOf(messages)).toBeLessThanOrEqual(maxTokens);
        expect(messages.length - 1).toBeLessThanOrEqual(maxMessages);
        expect(messages[0]).toBe(history[0]);
        expect([history[0], ...dropped, ...messages.slice(1)]).toEqual(history);
        expect(droppedTokens).toBe(tokensOf(dropped));
      },
    ),
  );
});

test('a tool call and its results are never parted', () => {
  fc.assert(
    fc.property(conversations, fc.nat(400), (history, maxTokens) => {
      const { messages } = fitHistory(history, { maxTokens });
      expect(resultIds(messages).sort()).toEqual(callIds(messages).sort());
    }),
  );
});

test('a history that fits stays whole', () => {
  fc.assert(
    fc.property(conversations, (history) => {
      const fitted = fitHistory(history, { maxTokens: tokensOf(history), maxMessages: history.length });
      expect(fitted).toEqual({ messages: history, dropped: [], droppedTokens: 0 });
    }),
  );
});

test('whatever was left of an interrupted turn, no half of a call is sent', () => {
  fc.assert(
    fc.property(conversations, fc.infiniteStream(fc.boolean()), (history, keep) => {
      const torn = history.filter(({ role }) => role === 'system' || keep.next().value);
      const { messages, dropped } = fitHistory(torn, { maxTokens: Number.POSITIVE_INFINITY });
      expect(resultIds(messages).sort()).toEqual(callIds(messages).sort());
      expect(messages.length + dropped.length).toBe(torn.length);
    }),
  );
});
