import fc from 'fast-check';
import { expect, test } from 'vitest';
import { conversationMessageSchema } from '../../src/domain/conversation-message.ts';
import { fromWire, toLegacyWire, toWire } from '../../src/domain/wire-message.ts';
import { conversations, NOW } from './arbitraries.ts';

const call = { id: 'call-1', name: 'search_docs', arguments: '{"query":"topics"}' };
const base = { id: 'm1', timestamp: NOW };
const accepts = (message: object) => conversationMessageSchema.safeParse({ ...base, ...message }).success;

function reading() {
  let id = 0;
  return { nextId: () => `id-${++id}`, timestamp: NOW };
}

function essence(messages: ReturnType<typeof fromWire>) {
  return messages.map(({ id, tokenCount, ...rest }) => rest);
}

test('content may be null only when there are tool calls', () => {
  expect(accepts({ role: 'assistant', content: null, toolCalls: [call] })).toBe(true);
  expect(accepts({ role: 'assistant', content: null, toolCalls: [] })).toBe(false);
  expect(accepts({ role: 'assistant', content: null })).toBe(false);
  expect(accepts({ role: 'user', content: null })).toBe(false);
});

test('only an assistant calls tools', () => {
  expect(accepts({ role: 'user', content: 'a', toolCalls: [call] })).toBe(false);
  expect(accepts({ role: 'system', content: 'a', toolCalls: [call] })).toBe(false);
});

test('only a tool message names the call it answers, and it must', () => {
  expect(accepts({ role: 'tool', content: 'a', toolCallId: 'call-1', name: 'search_docs' })).toBe(true);
  expect(accepts({ role: 'tool', content: 'a', name: 'search_docs' })).toBe(false);
  expect(accepts({ role: 'user', content: 'a', toolCallId: 'call-1' })).toBe(false);
});

test('the role function is read as tool', () => {
  const message = { ...base, role: 'function', content: 'a', toolCallId: 'call-1', name: 'search_docs' };
  expect(conversationMessageSchema.parse(message).role).toBe('tool');
});

test('a conversation comes back from the wire as it went out', () => {
  fc.assert(
    fc.property(conversations, (messages) => {
      expect(essence(fromWire(messages.map(toWire), reading()))).toEqual(essence(messages));
    }),
  );
});

test('a conversation without parallel calls survives the legacy form, except for the ids of its calls', () => {
  const single = conversations.filter((messages) =>
    messages.every((message) => message.role !== 'assistant' || message.toolCalls.length < 2),
  );
  fc.assert(
    fc.property(single, (messages) => {
      const legacy = messages.map(toLegacyWire);
      const read = fromWire(legacy, reading());
      expect(read.map(toLegacyWire)).toEqual(legacy);
      expect(read.map(({ role, content }) => [role, content])).toEqual(
        messages.map(({ role, content }) => [role, content]),
      );
    }),
  );
});

test('a legacy call and its result are joined by an id of our own', () => {
  const read = fromWire(
    [
      { role: 'assistant', content: null, function_call: { name: 'search_docs', arguments: '{}' } },
      { role: 'function', name: 'search_docs', content: 'found' },
    ],
    reading(),
  );
  expect(read).toMatchObject([
    { role: 'assistant', toolCalls: [{ id: 'id-2', name: 'search_docs' }] },
    { role: 'tool', toolCallId: 'id-2', name: 'search_docs', content: 'found' },
  ]);
});

test('the wire format is written as the API defines it', () => {
  const message = conversationMessageSchema.parse({
    ...base,
    role: 'assistant',
    content: null,
    toolCalls: [call],
  });
  expect(toWire(message)).toEqual({
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'call-1', type: 'function', function: { name: 'search_docs', arguments: '{"query":"topics"}' } },
    ],
  });
  expect(toLegacyWire(message)).toEqual({
    role: 'assistant',
    content: null,
    function_call: { name: 'search_docs', arguments: '{"query":"topics"}' },
  });
});

test('content in parts, the developer role and null fields are read', () => {
  const read = fromWire(
    [
      { role: 'developer', content: 'Cite.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is ' },
          { type: 'text', text: 'a topic?' },
        ],
      },
      { role: 'assistant', content: 'A channel.', tool_calls: null, function_call: null, refusal: null },
    ],
    reading(),
  );
  expect(read).toMatchObject([
    { role: 'system', content: 'Cite.' },
    { role: 'user', content: 'What is a topic?' },
    { role: 'assistant', content: 'A channel.', toolCalls: [] },
  ]);
});

test.each([
  ['an unknown role', { role: 'robot', content: 'a' }],
  ['a message that is no object', 'text'],
  ['a picture', { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }],
  ['an assistant with neither content nor calls', { role: 'assistant', content: null }],
  ['a tool result without its call', { role: 'tool', tool_call_id: 'call-1', content: 'a' }],
  ['a legacy result without its call', { role: 'function', name: 'search_docs', content: 'a' }],
])('%s on the wire is refused as bad input that names the message', (_, message) => {
  expect(() => fromWire([{ role: 'user', content: 'hi' }, message], reading())).toThrow(
    expect.objectContaining({ kind: 'invalid_input', message: expect.stringContaining('Message 2') }),
  );
});

test('parallel calls cannot be written in the legacy form', () => {
  const toolCalls = [call, { ...call, id: 'call-2' }];
  const message = conversationMessageSchema.parse({ ...base, role: 'assistant', content: null, toolCalls });
  expect(() => toLegacyWire(message)).toThrow(/parallel/);
});

test('a call on the wire is answered once, and equal names in the legacy form are answered in order', () => {
  const asked = { role: 'assistant', content: null, function_call: { name: 'search_docs', arguments: '{}' } };
  const answered = { role: 'function', name: 'search_docs', content: 'found' };
  expect(fromWire([asked, asked, answered, answered], reading())).toMatchObject([
    { toolCalls: [{ id: 'id-2' }] },
    { toolCalls: [{ id: 'id-4' }] },
    { toolCallId: 'id-2' },
    { toolCallId: 'id-4' },
  ]);
  expect(() => fromWire([asked, answered, answered], reading())).toThrow(/not made/);
});
