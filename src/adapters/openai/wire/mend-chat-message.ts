import { firstText, isObject, type JsonObject, objectsOf } from './json-object.ts';

/** The text of a message or of a piece of one: a string, null, or a list of parts of which some are thoughts. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map((part) => firstText(part.text, isObject(part.text) ? part.text.value : undefined) ?? '')
    .join('');
}

/** Where a service keeps the thoughts of its model. The SDK knows only `reasoning`. */
export const REASONING_KEYS = ['reasoning', 'reasoning_content'] as const;
export type ReasoningKey = (typeof REASONING_KEYS)[number];

export function reasoningKeyOf(message: JsonObject): ReasoningKey | undefined {
  return REASONING_KEYS.find((key) => firstText(message[key]) !== undefined);
}

/** The fields of a message or a piece of one that matter to us, under the names that the SDK reads. */
export function mendContent(message: JsonObject): JsonObject {
  const content = contentText(message.content);
  const refusal = firstText(message.refusal);
  const reasoningKey = reasoningKeyOf(message);
  return {
    role: 'assistant',
    ...(content !== '' && { content }),
    ...(refusal !== undefined && { refusal }),
    ...(reasoningKey !== undefined && { reasoning: message[reasoningKey] }),
  };
}
