import type { Exchange } from './exchange.ts';
import { firstText, isObject, type JsonObject, objectsOf, parseJson } from './json-object.ts';

/** The given id, or a new one if it is empty or was used before: the SDK refuses to run such a call. */
export function ownCallId(id: unknown, { callIds, newId }: Exchange): string {
  const given = typeof id === 'number' ? String(id) : firstText(id);
  const own = given === undefined || callIds.has(given) ? newId() : given;
  callIds.add(own);
  return own;
}

/** Arguments as the JSON text that they should be; a tool without parameters may come without any. */
export function argumentsText(value: unknown): string {
  if (isObject(value)) return JSON.stringify(value);
  return typeof value === 'string' && value.trim() !== '' ? value : '{}';
}

/** What the SDK and most services take for the name of a tool. */
const NOT_IN_NAMES = /[^\w-]/g;
const LONGEST_NAME = 64;
const UNNAMED = 'unnamed';

/**
 * The tool that a call means: the one whose name it holds beside a prefix or a suffix (`functions.search_docs`,
 * `search_docs:0`), or the only one if it names none. Any other name becomes one that the loop can carry, so that the
 * model is told that there is no such tool.
 */
export function toolNamed(name: unknown, offered: readonly string[]): string {
  const given = firstText(name)?.trim() ?? '';
  if (offered.includes(given)) return given;
  if (given === '') return (offered.length === 1 ? offered[0] : undefined) ?? UNNAMED;
  const words = given.toLowerCase().split(/[^\w-]+|__+/);
  const meant = offered.filter((each) => words.includes(each.toLowerCase()));
  const [only = given] = meant.length === 1 ? meant : [];
  return only.replace(NOT_IN_NAMES, '_').slice(0, LONGEST_NAME);
}

/** Neither a name nor arguments: what some services send beside every answer. */
export function isStub(called: JsonObject): boolean {
  return (firstText(called.name)?.trim() ?? '') === '' && argumentsText(called.arguments) === '{}';
}

/** The calls of a message that came in one piece, the legacy `function_call` included. */
export function mendToolCalls(message: JsonObject, exchange: Exchange): JsonObject[] {
  return callsIn(message).flatMap((call) => {
    const called = isObject(call.function) ? call.function : call;
    if (isStub(called)) return [];
    const { index: _index, ...rest } = call;
    return {
      ...(isObject(call.function) && rest),
      id: ownCallId(call.id, exchange),
      type: 'function',
      function: {
        name: toolNamed(called.name, exchange.toolNames),
        arguments: argumentsText(called.arguments),
      },
    };
  });
}

/** The calls of a message as a stream has them: the SDK tells them apart by their index alone. */
export function numbered(calls: readonly JsonObject[]): JsonObject[] {
  return calls.map((call, index) => ({ ...call, index }));
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

interface ToolCallCollector {
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
