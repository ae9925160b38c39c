import { isJsonObject } from '../../../text/parse-json.ts';
import { contentText } from './chat-answers.ts';
import { type JsonObject, objectsIn } from './json-object.ts';
import type { WireError } from './wire-error.ts';
import type { ServiceQuirks, WireApi } from './wire-exchange.ts';

/** Removes parameters that only OpenAI accepts, and those that this service has rejected. */
export function repairRequest(
  body: JsonObject,
  url: string,
  api: WireApi,
  quirks: ServiceQuirks,
): JsonObject {
  const { refusedParameters } = quirks;
  const messages = objectsIn(body.messages).map((message) =>
    message.role === 'assistant' ? repairAssistantMessage(message, quirks) : message,
  );
  const named = api === 'responses' ? body : renameTokenLimit({ ...body, messages }, url, quirks);
  return Object.fromEntries(Object.entries(named).filter(([key]) => !refusedParameters.has(key)));
}

/** OpenAI's newer models refuse `max_tokens`, the name that all other services know. */
const RENAMED_LIMIT = /(^|\/)(gpt-[5-9]|o\d)/;

function renameTokenLimit(body: JsonObject, url: string, quirks: ServiceQuirks): JsonObject {
  const { max_tokens, ...rest } = body;
  const isRenamed =
    quirks.refusedParameters.has('max_tokens') ||
    RENAMED_LIMIT.test(String(body.model)) ||
    new URL(url).hostname.endsWith('api.openai.com');
  return isRenamed && max_tokens !== undefined ? { ...rest, max_completion_tokens: max_tokens } : body;
}

/**
 * The SDK sends text back as parts with stray keys, and adds keys to tool calls. Google requires its `extra_content`
 * back; reasoning goes back in the field that it came in.
 */
function repairAssistantMessage(message: JsonObject, { reasoningKey }: ServiceQuirks): JsonObject {
  const refusal = objectsIn(message.content).find((part) => part.type === 'refusal')?.refusal;
  const calls = objectsIn(message.tool_calls).map(repairSentCall);
  const text = contentText(message.content) || (typeof refusal === 'string' ? refusal : '');
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(reasoningKey !== undefined &&
      typeof message.reasoning === 'string' && { [reasoningKey]: message.reasoning }),
  };
}

function repairSentCall(call: JsonObject): JsonObject {
  const called = isJsonObject(call.function) ? call.function : {};
  return {
    id: call.id,
    type: 'function',
    function: { name: called.name, arguments: called.arguments },
    ...(call.extra_content !== undefined && { extra_content: call.extra_content }),
  };
}

/** Parameters that a request can omit. */
const OPTIONAL_KEYS = [
  'temperature',
  'top_p',
  'max_tokens',
  'stream_options',
  'parallel_tool_calls',
  'store',
  'response_format',
];

const REFUSAL =
  /unsupported|not supported|does(?: not|n't) support|unknown|unrecogni[sz]ed|not permitted|not allowed|extra (?:inputs?|fields?)|forbidden|deprecated|unexpected|unavailable/i;

/** The optional parameter that an error rejects, as reasoning models do with temperature. */
export function refusedParameter(error: WireError): string | undefined {
  if (error.status !== 400 && error.status !== 422) return undefined;
  const text = `${error.code ?? ''} ${error.message}`;
  if (!REFUSAL.test(text)) return undefined;
  const message = error.message.replace(/response format/gi, 'response_format');
  return OPTIONAL_KEYS.find((key) => error.param === key || new RegExp(`\\b${key}\\b`).test(message));
}
