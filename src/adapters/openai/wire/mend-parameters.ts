import type { Dialect } from './exchange.ts';
import type { JsonObject } from './json-object.ts';
import { nameLimit } from './mend-chat-request.ts';
import type { WireError } from './wire-error.ts';

/** A request without the parameters that the service has refused. Doing it again changes nothing. */
export function mendParameters(
  body: JsonObject,
  url: string,
  api: 'responses' | 'chat_completions',
  dialect: Dialect,
): JsonObject {
  const named = api === 'responses' ? body : nameLimit(body, url, dialect);
  if (dialect.refused.size === 0) return named;
  return Object.fromEntries(Object.entries(named).filter(([key]) => !dialect.refused.has(key)));
}

/** What a request can do without. */
const OPTIONAL = ['temperature', 'top_p', 'max_tokens', 'stream_options', 'parallel_tool_calls', 'store'];

const REFUSAL =
  /unsupported|not supported|does(?: not|n't) support|unknown|unrecogni[sz]ed|not permitted|not allowed|extra (?:inputs?|fields?)|forbidden|deprecated|unexpected/i;

/** The optional parameter that the service says it does not know, as reasoning models say of temperature. */
export function refusedParameter(error: WireError): string | undefined {
  if (error.status !== 400 && error.status !== 422) return undefined;
  const text = `${error.code ?? ''} ${error.message}`;
  if (!REFUSAL.test(text)) return undefined;
  return OPTIONAL.find((name) => error.param === name || new RegExp(`\\b${name}\\b`).test(error.message));
}
