import * as z from 'zod';
import { citationSchema } from './citation.ts';
import { nonBlankTextSchema } from './retrieved-chunk.ts';

export const toolCallSchema = z.strictObject({
  id: z.string().min(1),
  name: z.string().min(1),
  /** JSON as the model wrote it, which may be malformed. */
  arguments: z.string(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

const fields = {
  id: z.string().min(1),
  citations: z.array(citationSchema).default([]),
  tokenCount: z.int().min(0).default(0),
  timestamp: z.iso.datetime(),
  metadata: z.record(z.string(), z.unknown()).default({}),
};

const systemMessageSchema = z.strictObject({
  ...fields,
  role: z.literal('system'),
  content: nonBlankTextSchema,
});
const userMessageSchema = z.strictObject({ ...fields, role: z.literal('user'), content: nonBlankTextSchema });
const assistantMessageSchema = z
  .strictObject({
    ...fields,
    role: z.literal('assistant'),
    content: z.string().nullable(),
    toolCalls: z.array(toolCallSchema).default([]),
  })
  .refine(({ content, toolCalls }) => (content ?? '').trim() !== '' || toolCalls.length > 0, {
    error: 'content may be null or blank only when there are tool calls',
    path: ['content'],
  });
const toolMessageSchema = z.strictObject({
  ...fields,
  // The legacy role is read, never written.
  role: z.literal(['tool', 'function']).transform((): 'tool' => 'tool'),
  content: nonBlankTextSchema,
  toolCallId: z.string().min(1),
  name: z.string().min(1),
});

export const conversationMessageSchema = z.discriminatedUnion('role', [
  systemMessageSchema,
  userMessageSchema,
  assistantMessageSchema,
  toolMessageSchema,
]);
export type ConversationMessage = z.infer<typeof conversationMessageSchema>;
export type SystemMessage = z.infer<typeof systemMessageSchema>;
