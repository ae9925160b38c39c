import type { Dialect } from './exchange.ts';
import { isObject, type JsonObject, objectsOf } from './json-object.ts';
import { contentText } from './mend-chat-completion.ts';

/** Newer models of OpenAI refuse the name that all others know. */
const RENAMED_LIMIT = /(^|\/)(gpt-[5-9]|o\d)/;

/** The messages of a Chat Completions request without what only OpenAI's own server forgives. */
export function mendChatMessages(messages: unknown, dialect: Dialect): JsonObject[] {
  return objectsOf(messages).map((message) =>
    message.role === 'assistant' ? mendAssistant(message, dialect) : message,
  );
}

/** The limit of tokens under the name that the service knows. */
export function nameLimit(body: JsonObject, url: string, dialect: Dialect): JsonObject {
  const { max_tokens, ...rest } = body;
  const isRenamed =
    dialect.refused.has('max_tokens') ||
    RENAMED_LIMIT.test(String(body.model)) ||
    new URL(url).hostname.endsWith('api.openai.com');
  return isRenamed && max_tokens !== undefined ? { ...rest, max_completion_tokens: max_tokens } : body;
}

/**
 * The SDK replays the text as parts with stray keys, and copies keys of the service's tool calls around.
 * `extra_content` is Google's, which wants it back; thoughts go back under the name they came with.
 */
function mendAssistant(message: JsonObject, dialect: Dialect): JsonObject {
  const refusal = objectsOf(message.content).find((part) => part.type === 'refusal')?.refusal;
  const calls = objectsOf(message.tool_calls).map(mendCall);
  const text = contentText(message.content) || (typeof refusal === 'string' ? refusal : '');
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(dialect.reasoningKey !== undefined &&
      typeof message.reasoning === 'string' && { [dialect.reasoningKey]: message.reasoning }),
  };
}

function mendCall(call: JsonObject): JsonObject {
  const called = isObject(call.function) ? call.function : {};
  return {
    id: call.id,
    type: 'function',
    function: { name: called.name, arguments: called.arguments },
    ...(call.extra_content !== undefined && { extra_content: call.extra_content }),
  };
}
