import { expect, test } from 'vitest';
import { conversationMessageSchema } from '../../src/domain/conversation-message.ts';
import { NOW } from './arbitraries.ts';

const call = { id: 'call-1', name: 'search_docs', arguments: '{"query":"topics"}' };
const base = { id: 'm1', timestamp: NOW };
const accepts = (message: object) => conversationMessageSchema.safeParse({ ...base, ...message }).success;

test('content may be null only when there are tool calls', () => {
  expect(accepts({ role: 'assistant', content: null, toolCalls: [call] })).toBe(true);
  expect(accepts({ role: 'assistant', content: null, toolCalls: [] })).toBe(false);
  expect(accepts({ role: 'assistant', content: null })).toBe(false);
  expect(accepts({ role: 'user', content: null })).toBe(false);
});

test('content may be blank only with tool calls', () => {
  expect(accepts({ role: 'assistant', content: '', toolCalls: [call] })).toBe(true);
  expect(accepts({ role: 'assistant', content: ' \n' })).toBe(false);
  expect(accepts({ role: 'user', content: '' })).toBe(false);
  expect(accepts({ role: 'system', content: ' ' })).toBe(false);
  expect(accepts({ role: 'tool', content: '', toolCallId: 'call-1', name: 'search_docs' })).toBe(false);
});

test('only assistant messages have tool calls', () => {
  expect(accepts({ role: 'user', content: 'a', toolCalls: [call] })).toBe(false);
  expect(accepts({ role: 'system', content: 'a', toolCalls: [call] })).toBe(false);
});

test('only tool messages have a toolCallId', () => {
  expect(accepts({ role: 'tool', content: 'a', toolCallId: 'call-1', name: 'search_docs' })).toBe(true);
  expect(accepts({ role: 'tool', content: 'a', name: 'search_docs' })).toBe(false);
  expect(accepts({ role: 'user', content: 'a', toolCallId: 'call-1' })).toBe(false);
});

test('reads the role function as tool', () => {
  const message = { ...base, role: 'function', content: 'a', toolCallId: 'call-1', name: 'search_docs' };
  expect(conversationMessageSchema.parse(message).role).toBe('tool');
});
