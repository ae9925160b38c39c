import { type Dialect, type Exchange, REASONING_KEYS } from './exchange.ts';
import { firstText, isObject, type JsonObject, objectsOf } from './json-object.ts';
import { mendToolCalls, numbered } from './tool-calls.ts';
import { mendUsage } from './usage.ts';

/** A Chat Completions answer that came in one piece, mended. */
export function mendChatCompletion(body: JsonObject, exchange: Exchange): JsonObject {
  const usage = mendUsage(body.usage, 'prompt_tokens', 'completion_tokens');
  const { usage: _usage, ...rest } = body;
  return {
    ...rest,
    id: firstText(body.id) ?? `chatcmpl-${exchange.newId()}`,
    choices: objectsOf(body.choices).map((choice, index) => mendChoice(choice, index, exchange)),
    ...(usage !== undefined && { usage }),
  };
}

function mendChoice(choice: JsonObject, index: number, exchange: Exchange): JsonObject {
  const message = [choice.message, choice.delta].find(isObject) ?? {};
  exchange.dialect.reasoningKey ??= reasoningKeyOf(message);
  const calls = mendToolCalls(message, exchange);
  return {
    index,
    finish_reason: firstText(choice.finish_reason) ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    message: { content: null, ...mendContent(message), ...(calls.length > 0 && { tool_calls: calls }) },
  };
}

/** The same answer as a stream would have brought it, for services that do not stream when asked to. */
export function chatCompletionAsEvents(body: JsonObject): JsonObject[] {
  const choices = objectsOf(body.choices).map(({ message, ...choice }) => {
    const delta = isObject(message) ? message : {};
    const calls = numbered(objectsOf(delta.tool_calls));
    return { ...choice, delta: { ...delta, ...(calls.length > 0 && { tool_calls: calls }) } };
  });
  return [{ ...body, choices }];
}

/** The text of a message or of a piece of one: a string, null, or a list of parts of which some are thoughts. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map((part) => firstText(part.text, isObject(part.text) ? part.text.value : undefined) ?? '')
    .join('');
}

export function reasoningKeyOf(message: JsonObject): Dialect['reasoningKey'] {
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
