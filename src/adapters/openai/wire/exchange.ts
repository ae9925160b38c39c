import { createHash } from 'node:crypto';
import { isObject, type JsonObject, objectsOf } from './json-object.ts';

/** Where a service keeps the thoughts of its model. The SDK knows only `reasoning`. */
export const REASONING_KEYS = ['reasoning', 'reasoning_content'] as const;
type ReasoningKey = (typeof REASONING_KEYS)[number];

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
  /** The names of the tools that the model was offered. */
  toolNames: readonly string[];
  /**
   * An id where the service gives none: nine letters and digits, the one form that every service accepts, Mistral
   * included. The same conversation gets the same ones, so that a replay asks what was recorded.
   */
  newId(): string;
}

export function startExchange(request: JsonObject, dialect: Dialect): Exchange {
  const inMessages = objectsOf(request.messages).flatMap((message) => objectsOf(message.tool_calls));
  const ids = [...inMessages.map((call) => call.id), ...objectsOf(request.input).map((item) => item.call_id)];
  const names = objectsOf(request.tools).map((tool) => (isObject(tool.function) ? tool.function : tool).name);
  const callIds = new Set(ids.filter((id) => typeof id === 'string'));
  const length = objectsOf(request.messages ?? request.input).length;
  const seed = [length, ...callIds].join(' ');
  let count = 0;
  const newId = (): string => {
    count += 1;
    const digest = createHash('sha256').update(`${seed} ${count}`).digest('base64url');
    const id = digest.replace(/[-_]/g, 'x').slice(0, 9);
    return callIds.has(id) ? newId() : id;
  };
  return { dialect, callIds, toolNames: names.filter((name) => typeof name === 'string'), newId };
}
