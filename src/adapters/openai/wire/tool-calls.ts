import { isJsonObject, parseJson } from '../../../text/parse-json.ts';
import { firstText, type JsonObject, objectsIn } from './json-object.ts';
import type { WireExchange } from './wire-exchange.ts';

/** The given id, or a new one if it is empty or used before: the SDK does not run such a call. */
export function uniqueCallId(id: unknown, { callIds, newId }: WireExchange): string {
  const given = firstText(id);
  const own = given === undefined || callIds.has(given) ? newId() : given;
  callIds.add(own);
  return own;
}

/** The arguments of a call as JSON text; services may send an object, or nothing for a tool without parameters. */
export function argumentsText(value: unknown): string {
  if (isJsonObject(value)) return JSON.stringify(value);
  return typeof value === 'string' && value.trim() !== '' ? value : '{}';
}

/** Characters that the SDK and most services reject in tool names. */
const NOT_IN_NAMES = /[^\w-]/g;
const MAX_NAME_LENGTH = 64;
const UNNAMED = 'unnamed';

/**
 * The tool that a call refers to: one whose name has a prefix or suffix in the call (`functions.search_docs`,
 * `search_docs:0`), or the only one if the call has no name. Any other name is made valid, so that the model receives
 * the error about an unknown tool.
 */
export function matchToolName(name: unknown, offered: readonly string[]): string {
  const given = firstText(name)?.trim() ?? '';
  if (offered.includes(given)) return given;
  if (given === '') return (offered.length === 1 ? offered[0] : undefined) ?? UNNAMED;
  const words = given.toLowerCase().split(/[^\w-]+|__+/);
  const meant = offered.filter((each) => words.includes(each.toLowerCase()));
  const [only = given] = meant.length === 1 ? meant : [];
  return only.replace(NOT_IN_NAMES, '_').slice(0, MAX_NAME_LENGTH);
}

/** Whether a call has neither name nor arguments; some services send one with every answer. */
export function isEmptyCall(called: JsonObject): boolean {
  return (firstText(called.name)?.trim() ?? '') === '' && argumentsText(called.arguments) === '{}';
}

/** The calls of a whole message. */
export function repairToolCalls(message: JsonObject, exchange: WireExchange): JsonObject[] {
  return objectsIn(message.tool_calls).flatMap((call) => {
    const called = isJsonObject(call.function) ? call.function : call;
    if (isEmptyCall(called)) return [];
    const { index: _index, ...rest } = call;
    return {
      ...(isJsonObject(call.function) && rest),
      id: uniqueCallId(call.id, exchange),
      type: 'function',
      function: {
        name: matchToolName(called.name, exchange.toolNames),
        arguments: argumentsText(called.arguments),
      },
    };
  });
}

/** The calls as in a stream, where the SDK distinguishes them by their index only. */
export function addCallIndexes(calls: readonly JsonObject[]): JsonObject[] {
  return calls.map((call, index) => ({ ...call, index }));
}

interface PartialCall {
  index: unknown;
  id: string | undefined;
  name: string;
  arguments: string;
}

/**
 * Joins streamed tool calls. The SDK does it too, but appends a name that is repeated in each chunk, and merges calls
 * that share an index.
 */
export function createToolCallCollector() {
  const partial: PartialCall[] = [];

  function callFor(piece: JsonObject, name: string | undefined): PartialCall {
    const id = firstText(piece.id);
    const open =
      piece.index === undefined ? partial.at(-1) : partial.findLast((each) => each.index === piece.index);
    const isNew =
      open === undefined ||
      (name !== undefined && (id === undefined ? isJson(open.arguments) : id !== open.id));
    if (!isNew) {
      open.id ??= id;
      return open;
    }
    const call = { index: piece.index, id, name: '', arguments: '' };
    partial.push(call);
    return call;
  }

  return {
    /** Adds the parts of calls in a chunk of the stream. */
    add(delta: JsonObject): void {
      for (const piece of objectsIn(delta.tool_calls)) {
        const called = isJsonObject(piece.function) ? piece.function : piece;
        const name = firstText(called.name);
        const call = callFor(piece, name);
        if (name !== undefined && name !== call.name) call.name += name;
        call.arguments += isJsonObject(called.arguments)
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
