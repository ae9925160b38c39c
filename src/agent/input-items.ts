import type { AgentInputItem } from '@openai/agents-core';
import type { AssistantMessage, ConversationMessage, ToolMessage } from '../domain/conversation-message.ts';

/** Messages of the past as the SDK takes them. The system message goes another way: as instructions. */
export function inputItems(messages: readonly ConversationMessage[]): AgentInputItem[] {
  return messages.flatMap(itemsOf);
}

function itemsOf(message: ConversationMessage): AgentInputItem[] {
  if (message.role === 'system') return [];
  if (message.role === 'user') return [{ role: 'user', content: message.content }];
  return message.role === 'tool' ? [resultItem(message)] : assistantItems(message);
}

function resultItem({ toolCallId, name, content }: ToolMessage): AgentInputItem {
  const output = { type: 'text' as const, text: content };
  return { type: 'function_call_result', callId: toolCallId, name, status: 'completed', output };
}

function assistantItems({ content, toolCalls }: AssistantMessage): AgentInputItem[] {
  const calls = toolCalls.map(
    (call): AgentInputItem => ({
      type: 'function_call',
      callId: call.id,
      name: call.name,
      arguments: call.arguments,
      status: 'completed',
    }),
  );
  if (!content) return calls;
  return [
    { role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: content }] },
    ...calls,
  ];
}
