import type { Dialect } from './exchange.ts';
import type { JsonObject } from './json-object.ts';
import { nameLimit } from './mend-chat-request.ts';

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
