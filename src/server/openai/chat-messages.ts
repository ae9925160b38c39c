import * as z from 'zod';
import type { ConversationMessage } from '../../domain/conversation-message.ts';

const textPart = z.union([
  z
    .object({ type: z.enum(['text', 'input_text', 'output_text']), text: z.string() })
    .transform(({ text }) => text),
  z.object({ type: z.literal('refusal'), refusal: z.string() }).transform(({ refusal }) => refusal),
]);
const messageText = z.union([z.string(), z.array(textPart).transform((parts) => parts.join(''))], {
  error: 'only text is accepted',
});

/** A message of the Chat Completions API, or a message item of the Responses API. */
export const chatMessageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer', 'user']), content: messageText }),
  z.object({ role: z.literal('assistant'), content: messageText.nullish() }),
  z.object({ role: z.enum(['tool', 'function']) }),
]);
export type ChatMessage = z.infer<typeof chatMessageSchema>;

/**
 * The user and assistant messages of a request. System messages are dropped, since the agent has its own instructions;
 * so are tool calls and their results, since they belong to another agent.
 */
export function toConversation(
  messages: readonly ChatMessage[],
  toFields: (text: string) => Pick<ConversationMessage, 'id' | 'timestamp' | 'tokenCount'>,
): ConversationMessage[] {
  return messages.flatMap((message): ConversationMessage[] => {
    if (message.role !== 'user' && message.role !== 'assistant') return [];
    const content = message.content ?? '';
    const fields = { ...toFields(content), citations: [], metadata: {} };
    if (message.role === 'user') return [{ ...fields, role: 'user', content }];
    return content.trim() === '' ? [] : [{ ...fields, role: 'assistant', content, toolCalls: [] }];
  });
}

/** A stored conversation as messages of the Chat Completions API. */
export function toChatMessages(messages: readonly ConversationMessage[]): Record<string, unknown>[] {
  return messages.map((message) => {
    const { role, content } = message;
    if (role === 'tool') return { role, tool_call_id: message.toolCallId, content };
    if (role !== 'assistant' || message.toolCalls.length === 0) return { role, content };
    const toolCalls = message.toolCalls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    }));
    return { role, content, tool_calls: toolCalls };
  });
}
