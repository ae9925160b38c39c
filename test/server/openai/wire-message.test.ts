import fc from 'fast-check';
import { expect, test } from 'vitest';
import { conversationMessageSchema } from '../../../src/domain/conversation-message.ts';
import { fromWire, toLegacyWire, toWire } from '../../../src/server/openai/wire-message.ts';
import { conversations, NOW } from '../../domain/arbitraries.ts';

const call = { id: 'call-1', name: 'search_docs', arguments: '{"query":"topics"}' };
const base = { id: 'm1', timestamp: NOW };

function reading() {
  let id = 0;
  return { nextId: () => `id-${++id}`, timestamp: NOW };
}

function essence(messages: ReturnType<typeof fromWire>) {
  return messages.map(({ id, tokenCount, ...rest }) => rest);
}

test('a conversation comes back from the wire as it went out', () => {
  fc.assert(
    fc.property(conversations, (messages) => {
      expect(essence(fromWire(toWire(messages), reading()))).toEqual(essence(messages));
    }),
  );
});

test('a conversation survives the legacy form, but for the ids of its calls and for calls made at once', () => {
  fc.assert(
    fc.property(conversations, (messages) => {
      const legacy = toLegacyWire(messages);
      expect(legacy.every((message) => message.role !== 'tool' && !('tool_calls' in message))).toBe(true);
      const read = fromWire(legacy, reading());
      expect(toLegacyWire(read)).toEqual(legacy);
      const calls = (of: typeof read) =>
        of.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []));
      expect(calls(read).map(({ id, ...call }) => call)).toEqual(
        calls(messages).map(({ id, ...call }) => call),
      );
      const contents = (of: typeof read, role: string) =>
        of.flatMap((message) => (message.role === role ? [message.content] : []));
      for (const role of ['system', 'user']) expect(contents(read, role)).toEqual(contents(messages, role));
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
  const result = conversationMessageSchema.parse({
    ...base,
    role: 'tool',
    content: 'found',
    toolCallId: 'call-1',
    name: 'search_docs',
  });
  expect(toWire([message, result])).toEqual([
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
  ]);
  expect(toLegacyWire([message, result])).toEqual([
    {
      role: 'assistant',
      content: null,
      function_call: { name: 'search_docs', arguments: '{"query":"topics"}' },
    },
    { role: 'function', name: 'search_docs', content: 'found' },
  ]);
  const named = [{ role: 'user', name: 'ada', content: 'Hi' }];
  expect(toWire(fromWire(named, reading()))).toEqual(named);
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

test('calls made at once follow one another in the legacy form, each with its result', () => {
  const toolCalls = [call, { ...call, id: 'call-2', name: 'read_source' }];
  const result = (toolCallId: string, name: string) => ({
    ...base,
    role: 'tool',
    content: name,
    toolCallId,
    name,
  });
  const messages = [
    { ...base, role: 'assistant', content: 'Let me look.', toolCalls },
    result('call-1', 'search_docs'),
    result('call-2', 'read_source'),
  ].map((message) => conversationMessageSchema.parse(message));
  expect(toLegacyWire(messages)).toMatchObject([
    { role: 'assistant', content: 'Let me look.', function_call: { name: 'search_docs' } },
    { role: 'function', name: 'search_docs', content: 'search_docs' },
    { role: 'assistant', content: null, function_call: { name: 'read_source' } },
    { role: 'function', name: 'read_source', content: 'read_source' },
  ]);
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
