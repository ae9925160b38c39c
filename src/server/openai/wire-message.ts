import * as z from 'zod';
import type { ConversationMessage, ToolCall } from '../../domain/conversation-message.ts';
import { AppError } from '../../faults/app-error.ts';
import { validated } from '../../faults/validated.ts';

const textParts = z.array(
  z.union([
    z.object({ type: z.literal('text'), text: z.string() }).transform((part) => part.text),
    z.object({ type: z.literal('refusal'), refusal: z.string() }).transform((part) => part.refusal),
  ]),
);
const text = z.union([z.string(), textParts.transform((parts) => parts.join(''))], {
  error: 'content must be text',
});
const functionCall = z.object({ name: z.string().min(1), arguments: z.string() });

/** A message of the OpenAI Chat Completions API, as far as a conversation needs it. */
const wireMessageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal(['system', 'developer']), content: text, name: z.string().optional() }),
  z.object({ role: z.literal('user'), content: text, name: z.string().optional() }),
  z.object({
    role: z.literal('assistant'),
    name: z.string().optional(),
    content: text.nullish(),
    tool_calls: z
      .array(z.object({ id: z.string().min(1), type: z.literal('function'), function: functionCall }))
      .nullish(),
    function_call: functionCall.nullish(),
  }),
  z.object({ role: z.literal('tool'), content: text, tool_call_id: z.string().min(1) }),
  z.object({ role: z.literal('function'), content: text.nullable(), name: z.string().min(1) }),
]);
export type WireMessage = z.infer<typeof wireMessageSchema>;

/** What messages are given besides what they say. */
export interface ReadOptions {
  /** A fresh id; asked for once a message, and once for a legacy call, which has none. */
  nextId: () => string;
  timestamp: string;
  countTokens?: (text: string) => number;
}

/** Reads a conversation from the wire. Throws `invalid_input`, also for a result without its call. */
export function fromWire(messages: readonly unknown[], options: ReadOptions): ConversationMessage[] {
  const open: ToolCall[] = [];
  return messages.map((message, index) => {
    const place = `Message ${index + 1}`;
    return readMessage(validated(wireMessageSchema, message, place), { ...options, open, place });
  });
}

interface Reading extends ReadOptions {
  /** Calls that still wait for their result. */
  open: ToolCall[];
  place: string;
}

function readMessage(wire: WireMessage, reading: Reading): ConversationMessage {
  const fields = {
    id: reading.nextId(),
    citations: [],
    tokenCount: reading.countTokens?.(wire.content ?? '') ?? 0,
    timestamp: reading.timestamp,
    // Who spoke, where a conversation has several: nobody here asks, but it goes out again as it came.
    metadata:
      wire.role !== 'function' && 'name' in wire && wire.name !== undefined ? { name: wire.name } : {},
  };
  switch (wire.role) {
    case 'system':
    case 'developer':
      return { ...fields, role: 'system', content: wire.content };
    case 'user':
      return { ...fields, role: 'user', content: wire.content };
    case 'assistant': {
      const toolCalls = callsOf(wire, reading.nextId);
      reading.open.push(...toolCalls);
      return { ...fields, role: 'assistant', content: contentOf(wire, toolCalls, reading.place), toolCalls };
    }
    case 'tool':
    case 'function': {
      const call = closeCall(wire, reading);
      return { ...fields, role: 'tool', content: wire.content ?? '', toolCallId: call.id, name: call.name };
    }
  }
}

type WireAssistant = Extract<WireMessage, { role: 'assistant' }>;
type WireResult = Extract<WireMessage, { role: 'tool' | 'function' }>;

function callsOf(wire: WireAssistant, nextId: () => string): ToolCall[] {
  if (wire.tool_calls?.length) {
    return wire.tool_calls.map(({ id, function: { name, arguments: args } }) => ({
      id,
      name,
      arguments: args,
    }));
  }
  return wire.function_call ? [{ id: nextId(), ...wire.function_call }] : [];
}

function contentOf(wire: WireAssistant, toolCalls: readonly ToolCall[], place: string): string | null {
  const content = wire.content?.trim() ? wire.content : null;
  if (content !== null || toolCalls.length > 0) return content;
  throw new AppError('invalid_input', `${place} has neither content nor tool calls.`);
}

/** The call that a result belongs to: by its id, or in the legacy form the oldest open one of that name. */
function closeCall(wire: WireResult, { open, place }: Reading): ToolCall {
  const index = open.findIndex((call) =>
    wire.role === 'tool' ? call.id === wire.tool_call_id : call.name === wire.name,
  );
  const [call] = index < 0 ? [] : open.splice(index, 1);
  if (call !== undefined) return call;
  throw new AppError('invalid_input', `${place} is the result of a tool call that was not made.`);
}

/** Writes a conversation in the current form: `tool_calls` and role `tool`. */
export function toWire(messages: readonly ConversationMessage[]): WireMessage[] {
  return messages.map((message) => {
    if (message.role === 'tool')
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    const { content, metadata } = message;
    const named = typeof metadata.name === 'string' ? { name: metadata.name } : {};
    if (message.role !== 'assistant') return { role: message.role, ...named, content: message.content };
    const calls = message.toolCalls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function' as const,
      function: { name, arguments: args },
    }));
    return { role: 'assistant', ...named, content, ...(calls.length > 0 && { tool_calls: calls }) };
  });
}

/**
 * Writes a conversation in the legacy form: `function_call` and role `function`. A message of it holds one call, so
 * calls that were made at once follow one another, each with its result.
 */
export function toLegacyWire(messages: readonly ConversationMessage[]): WireMessage[] {
  return messages.flatMap((message, at): WireMessage[] => {
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant' || message.toolCalls.length === 0) return toWire([message]);
    return message.toolCalls.flatMap(({ id, name, arguments: args }, index): WireMessage[] => {
      const result = messages.find((each, of) => of > at && each.role === 'tool' && each.toolCallId === id);
      const content = index === 0 ? message.content : null;
      return [
        { role: 'assistant', content, function_call: { name, arguments: args } },
        ...(result === undefined ? [] : [{ role: 'function' as const, name, content: result.content }]),
      ];
    });
  });
}
