import type { Exchange } from './exchange.ts';
import { firstText, isObject, type JsonObject, objectsOf } from './json-object.ts';
import { mendContent, reasoningKeyOf } from './mend-chat-message.ts';
import { mendToolCalls, newCallId } from './tool-calls.ts';
import { mendUsage } from './usage.ts';

/** A Chat Completions answer that came in one piece, mended. */
export function mendChatCompletion(body: JsonObject, exchange: Exchange): JsonObject {
  const usage = mendUsage(body.usage, 'prompt_tokens', 'completion_tokens');
  const { usage: _usage, ...rest } = body;
  return {
    ...rest,
    id: firstText(body.id) ?? `chatcmpl-${newCallId()}`,
    choices: objectsOf(body.choices).map((choice, index) => mendChoice(choice, index, exchange)),
    ...(usage !== undefined && { usage }),
  };
}

function mendChoice(choice: JsonObject, index: number, exchange: Exchange): JsonObject {
  const message = [choice.message, choice.delta].find(isObject) ?? {};
  exchange.dialect.reasoningKey ??= reasoningKeyOf(message);
  const calls = mendToolCalls(message, exchange.callIds);
  return {
    index,
    finish_reason: firstText(choice.finish_reason) ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    message: { content: null, ...mendContent(message), ...(calls.length > 0 && { tool_calls: calls }) },
  };
}

/** The same answer as a stream would have brought it, for services that do not stream when asked to. */
export function chatCompletionAsEvents(body: JsonObject): JsonObject[] {
  const { choices, ...rest } = body;
  return [
    { ...rest, choices: objectsOf(choices).map(({ message, ...choice }) => ({ ...choice, delta: message })) },
  ];
}
