import { expect, test } from 'vitest';
import { conversationMessageSchema, type SystemMessage } from '../../src/domain/conversation-message.ts';
import {
  appendMessages,
  completeSession,
  conversationSessionSchema,
  createSession,
  isOverSoftLimit,
  reopenSession,
  resetSession,
  sessionTotals,
} from '../../src/domain/conversation-session.ts';
import { NOW, SESSION_ID } from './arbitraries.ts';

const systemMessage: SystemMessage = {
  id: 'm0',
  role: 'system',
  content: 'Cite.',
  citations: [],
  tokenCount: 1,
  timestamp: NOW,
  metadata: {},
};
const message = (fields: object) => conversationMessageSchema.parse({ id: 'm', timestamp: NOW, ...fields });
const question = message({ role: 'user', content: 'What is a topic?' });
const result = message({ role: 'tool', content: '{}', toolCallId: 'c1', name: 'retrieve_context' });
const answer = message({ role: 'assistant', content: 'A channel [1].' });

const created = createSession({
  sessionId: SESSION_ID,
  createdAt: NOW,
  model: 'offline',
  policy: 'tool',
  collection: 'web_documents',
  systemMessage,
});

test('a new session has the status created and a system message', () => {
  expect(created).toMatchObject({ status: 'created', messages: [systemMessage], turnCount: 0 });
  expect(conversationSessionSchema.parse(created)).toEqual(created);
  expect(conversationSessionSchema.safeParse({ ...created, messages: [question] }).success).toBe(false);
  expect(conversationSessionSchema.safeParse({ ...created, sessionId: 'mine' }).success).toBe(false);
});

test('messages make a session active and are counted', () => {
  const session = appendMessages(created, [question, result, result, answer], { tokens: 40 });
  expect(session).toMatchObject({ status: 'active', turnCount: 1, retrievalCount: 2, totalTokensUsed: 40 });
  expect(session.messages).toHaveLength(5);
  expect(created.messages).toHaveLength(1);
});

test('counts retrievals without tool messages', () => {
  expect(appendMessages(created, [question, answer], { retrievals: 1 }).retrievalCount).toBe(1);
});

test('rejects a second system message', () => {
  expect(() => appendMessages(created, [systemMessage])).toThrow(/one system message/);
});

test('a completed session rejects messages and resets', () => {
  const completed = completeSession(created);
  expect(completed.status).toBe('completed');
  expect(() => appendMessages(completed, [question])).toThrow(/completed/);
  expect(() => resetSession(completed, NOW)).toThrow(/completed/);
});

test('a reopened session is active', () => {
  const reopened = reopenSession(completeSession(created));
  expect(appendMessages(reopened, [question, answer]).status).toBe('active');
  expect(reopenSession(created)).toBe(created);
});

test('rejects messages that do not alternate', () => {
  const asked = appendMessages(created, [question]);
  expect(() => appendMessages(asked, [question])).toThrow(/must alternate/);
  expect(() => appendMessages(created, [answer])).toThrow(/must alternate/);
  expect(() => appendMessages(created, [question, answer, answer])).toThrow(/must alternate/);
  expect(() => appendMessages(created, [result, question, answer])).toThrow(/must alternate/);
  const record = { ...created, messages: [systemMessage, question, question, answer] };
  expect(conversationSessionSchema.safeParse(record).success).toBe(false);
  expect(() => reopenSession(record)).toThrow(/must alternate/);
});

test('reads a record without isInteractive', () => {
  const { isInteractive: _, ...old } = created;
  expect(conversationSessionSchema.parse(old).isInteractive).toBe(false);
});

test('a reset keeps the id and system message, and closes a segment', () => {
  const before = appendMessages(created, [question, result, answer], { tokens: 40 });
  const after = resetSession(before, NOW);
  expect(after).toMatchObject({
    sessionId: SESSION_ID,
    status: 'active',
    messages: [systemMessage],
    turnCount: 0,
    retrievalCount: 0,
    totalTokensUsed: 0,
    segments: [{ turnCount: 1, retrievalCount: 1, totalTokensUsed: 40, messageCount: 4, closedAt: NOW }],
  });
  const again = appendMessages(after, [question, answer], { tokens: 2 });
  expect(sessionTotals(again)).toEqual({ turnCount: 2, retrievalCount: 1, totalTokensUsed: 42 });
});

test('allows more than 100 messages and reports them', () => {
  const full = appendMessages(created, [...Array(49).fill([question, answer]).flat(), question]);
  expect(isOverSoftLimit(full)).toBe(false);
  const over = appendMessages(full, [answer]);
  expect(isOverSoftLimit(over)).toBe(true);
  expect(over.messages).toHaveLength(101);
});
