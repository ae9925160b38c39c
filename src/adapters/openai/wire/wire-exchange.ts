import { createHash } from 'node:crypto';
import { isJsonObject } from '../../../text/parse-json.ts';
import { type JsonObject, objectsIn } from './json-object.ts';

export type WireApi = 'responses' | 'chat_completions';

/** The fields in which services send the reasoning of a model. The SDK reads only `reasoning`. */
export const REASONING_KEYS = ['reasoning', 'reasoning_content'] as const;

/** How a service differs from the specification, as far as its answers have shown. Kept for the life of the model. */
export interface ServiceQuirks {
  reasoningKey?: (typeof REASONING_KEYS)[number] | undefined;
  readonly refusedParameters: Set<string>;
}

/** One request and its answer. */
export interface WireExchange {
  quirks: ServiceQuirks;
  /** The ids of the tool calls in the conversation. */
  callIds: Set<string>;
  /** The names of the tools in the request. */
  toolNames: readonly string[];
  /**
   * An id for a call without one: nine letters and digits, the only form that all services accept, Mistral included. The
   * same conversation gets the same ids, so that a replay sends the recorded requests.
   */
  newId(): string;
}

export function startExchange(request: JsonObject, quirks: ServiceQuirks): WireExchange {
  const calls = objectsIn(request.messages).flatMap((message) => objectsIn(message.tool_calls));
  const ids = [...calls.map((call) => call.id), ...objectsIn(request.input).map((item) => item.call_id)];
  const names = objectsIn(request.tools).map(
    (tool) => (isJsonObject(tool.function) ? tool.function : tool).name,
  );
  const callIds = new Set(ids.filter((id) => typeof id === 'string'));
  const length = objectsIn(request.messages ?? request.input).length;
  const seed = [length, ...callIds].join(' ');
  let count = 0;
  const newId = (): string => {
    count += 1;
    const digest = createHash('sha256').update(`${seed} ${count}`).digest('base64url');
    const id = digest.replace(/[-_]/g, 'x').slice(0, 9);
    return callIds.has(id) ? newId() : id;
  };
  return { quirks, callIds, toolNames: names.filter((name) => typeof name === 'string'), newId };
}
