import { randomBytes } from 'node:crypto';
import { firstText, isObject, type JsonObject, objectsOf, parseJson } from './json-object.ts';

/** Nine letters and digits: the one form that every service accepts, Mistral included. */
export function newCallId(): string {
  return randomBytes(9).toString('base64url').replace(/[-_]/g, 'x').slice(0, 9);
}

/** The given id, or a new one if it is empty or was used before: the SDK refuses to run such a call. */
export function ownCallId(id: unknown, used: Set<string>): string {
  const given = typeof id === 'number' ? String(id) : firstText(id);
  const own = given === undefined || used.has(given) ? newCallId() : given;
  used.add(own);
  return own;
}

/** Arguments as the JSON text that they should be; a tool without parameters may come without any. */
export function argumentsText(value: unknown): string {
  if (isObject(value)) return JSON.stringify(value);
  return typeof value === 'string' && value.trim() !== '' ? value : '{}';
}

/** The calls of a message that came in one piece, the legacy `function_call` included. */
export function mendToolCalls(message: JsonObject, used: Set<string>): JsonObject[] {
  return callsIn(message).map((call) => {
    const called = isObject(call.function) ? call.function : call;
    const { index: _index, ...rest } = call;
    return {
      ...(isObject(call.function) && rest),
      id: ownCallId(call.id, used),
      type: 'function',
      function: { name: firstText(called.name) ?? '', arguments: argumentsText(called.arguments) },
    };
  });
}

function callsIn(message: JsonObject): JsonObject[] {
  const calls = objectsOf(message.tool_calls);
  return calls.length === 0 && isObject(message.function_call) ? [message.function_call] : calls;
}

interface PartialCall {
  index: unknown;
  id: string | undefined;
  name: string;
  arguments: string;
}

export interface ToolCallCollector {
  /** Takes the pieces that a chunk of the stream holds. */
  add(delta: JsonObject): void;
  /** Whether the arguments of every call are complete. */
  isComplete(): boolean;
  /** The calls as they would stand in a message. */
  calls(): JsonObject[];
}

/**
 * Puts streamed tool calls together. The SDK does so too, but takes a name that is repeated in each piece for
 * more of the name, and calls that share an index for one.
 */
export function createToolCallCollector(): ToolCallCollector {
  const partial: PartialCall[] = [];

  function callFor(piece: JsonObject, name: string | undefined): PartialCall {
    const id = firstText(piece.id);
    const open =
      piece.index === undefined ? partial.at(-1) : partial.findLast((each) => each.index === piece.index);
    const isNew =
      open === undefined ||
      (name !== undefined && id !== undefined && open.id !== undefined && id !== open.id) ||
      (name !== undefined && id === undefined && open.name !== '' && isJson(open.arguments));
    if (!isNew) {
      open.id ??= id;
      return open;
    }
    const call = { index: piece.index, id, name: '', arguments: '' };
    partial.push(call);
    return call;
  }

  return {
    add(delta) {
      for (const piece of callsIn(delta)) {
        const called = isObject(piece.function) ? piece.function : piece;
        const name = firstText(called.name);
        const call = callFor(piece, name);
        if (name !== undefined && name !== call.name) call.name += name;
        call.arguments += isObject(called.arguments)
          ? JSON.stringify(called.arguments)
          : (firstText(called.arguments) ?? '');
      }
    },
    isComplete: () => partial.every((call) => call.arguments.trim() === '' || isJson(call.arguments)),
    calls: () =>
      partial.map(({ id, name, arguments: text }) => ({ id, function: { name, arguments: text } })),
  };
}

function isJson(text: string): boolean {
  return parseJson(text) !== undefined;
}
