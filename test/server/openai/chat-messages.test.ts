import { expect, test } from 'vitest';
import { conversationMessageSchema } from '../../../src/domain/conversation-message.ts';
import {
  chatMessageSchema,
  toChatMessages,
  toConversation,
} from '../../../src/server/openai/chat-messages.ts';
import { NOW } from '../../domain/arbitraries.ts';

const parse = (messages: unknown[]) =>
  toConversation(
    messages.map((message) => chatMessageSchema.parse(message)),
    (text) => ({ id: 'id', timestamp: NOW, tokenCount: text.length }),
  );

test('reads content parts, and drops system messages, tool calls and tool results', () => {
  const toolCalls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }];
  const messages = parse([
    { role: 'developer', content: 'Cite.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is ' },
        { type: 'input_text', text: 'a topic?' },
      ],
    },
    { role: 'assistant', content: null, tool_calls: toolCalls },
    { role: 'tool', tool_call_id: 'c', content: 'found' },
    { role: 'assistant', content: 'A channel.', tool_calls: null, refusal: null },
  ]);
  expect(messages).toMatchObject([
    { role: 'user', content: 'What is a topic?', tokenCount: 16 },
    { role: 'assistant', content: 'A channel.', toolCalls: [] },
  ]);
  for (const message of messages) expect(conversationMessageSchema.parse(message)).toEqual(message);
});

test.each([
  ['an unknown role', { role: 'robot', content: 'a' }],
  ['a message that is not an object', 'text'],
  ['an image', { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }],
  ['a user message without content', { role: 'user' }],
])('refuses %s', (_, message) => {
  expect(chatMessageSchema.safeParse(message).success).toBe(false);
});

test('writes tool calls and results as the Chat Completions API defines them', () => {
  const base = { id: 'm1', timestamp: NOW };
  const call = { id: 'call-1', name: 'search_docs', arguments: '{"query":"topics"}' };
  const messages = [
    { ...base, role: 'user', content: 'Topics?' },
    { ...base, role: 'assistant', content: null, toolCalls: [call] },
    { ...base, role: 'tool', content: 'found', toolCallId: 'call-1', name: 'search_docs' },
    { ...base, role: 'assistant', content: 'Yes.' },
  ].map((message) => conversationMessageSchema.parse(message));
  expect(toChatMessages(messages)).toEqual([
    { role: 'user', content: 'Topics?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'call-1',
          type: 'function',
          function: { name: 'search_docs', arguments: '{"query":"topics"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call-1', content: 'found' },
    { role: 'assistant', content: 'Yes.' },
  ]);
});
