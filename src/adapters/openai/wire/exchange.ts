import type { JsonObject } from './json-object.ts';
import { objectsOf } from './json-object.ts';
import type { ReasoningKey } from './mend-chat-message.ts';

/** What was learnt about a service, kept as long as its model. */
export interface Dialect {
  reasoningKey?: ReasoningKey | undefined;
  /** Parameters that it does not accept. */
  readonly refused: Set<string>;
}

/** One request and its answer. */
export interface Exchange {
  dialect: Dialect;
  /** The ids of tool calls that the conversation holds already. */
  callIds: Set<string>;
}

export function startExchange(request: JsonObject, dialect: Dialect): Exchange {
  const inMessages = objectsOf(request.messages).flatMap((message) => objectsOf(message.tool_calls));
  const ids = [...inMessages.map((call) => call.id), ...objectsOf(request.input).map((item) => item.call_id)];
  return { dialect, callIds: new Set(ids.filter((id) => typeof id === 'string')) };
}
