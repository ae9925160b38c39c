import type { AppError } from '../../../faults/app-error.ts';
import { contentFilterError, outOfTokensError } from '../../../faults/service-errors.ts';
import { isJsonObject } from '../../../text/parse-json.ts';
import { brokenStream } from './answer-errors.ts';
import { contentText } from './chat-answers.ts';
import type { StreamRepair } from './event-stream.ts';
import { firstText, type JsonObject, objectsIn, repairUsage } from './json-object.ts';
import { argumentsText, isEmptyCall, matchToolName, uniqueCallId } from './tool-calls.ts';
import { parseWireError } from './wire-error.ts';
import type { WireExchange } from './wire-exchange.ts';

/**
 * Repairs a Responses API answer. One that was cut at the token limit counts as complete if it has content, as in Chat
 * Completions; `incomplete_details` is kept.
 */
export function repairResponse(body: JsonObject, exchange: WireExchange): JsonObject {
  const output = objectsIn(body.output)
    .filter((item) => item.type !== 'function_call' || !isEmptyCall(item))
    .map((item) => repairItem(item, exchange));
  const hasContent = output.some(
    ({ type, content }: JsonObject) => type === 'message' && contentText(content).trim() !== '',
  );
  if (body.status === 'incomplete' && !hasContent) throw incompleteResponse(body);
  return {
    ...body,
    id: firstText(body.id) ?? `resp_${exchange.newId()}`,
    object: 'response',
    status: 'completed',
    output,
    usage: repairUsage(body.usage, 'input_tokens', 'output_tokens'),
  };
}

function repairItem(item: JsonObject, exchange: WireExchange): JsonObject {
  if (item.type === 'function_call') {
    // The SDK would look up the tool in the namespace, and our requests define none.
    const { namespace: _namespace, ...rest } = item;
    return {
      ...rest,
      id: firstText(item.id) ?? `fc_${exchange.newId()}`,
      call_id: uniqueCallId(item.call_id, exchange),
      name: matchToolName(item.name, exchange.toolNames),
      arguments: argumentsText(item.arguments),
      status: 'completed',
    };
  }
  if (item.type === 'message') {
    return {
      ...item,
      id: firstText(item.id) ?? `msg_${exchange.newId()}`,
      role: 'assistant',
      content: Array.isArray(item.content)
        ? objectsIn(item.content).map(repairPart)
        : [toTextPart(item.content)],
      status: 'completed',
    };
  }
  if (item.type === 'reasoning') return { ...item, summary: objectsIn(item.summary) };
  return item;
}

function repairPart(part: JsonObject): JsonObject {
  if (part.type === 'refusal') return part;
  return { ...part, ...toTextPart(firstText(part.text) ?? '') };
}

function toTextPart(content: unknown): JsonObject {
  return { type: 'output_text', text: contentText(content), annotations: [] };
}

function incompleteResponse({ incomplete_details: details, output, usage }: JsonObject): AppError {
  if (isJsonObject(details) && details.reason === 'content_filter') return contentFilterError();
  const spent =
    isJsonObject(usage) && isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const hasReasoning = objectsIn(output).some(({ type }) => type === 'reasoning');
  return outOfTokensError(hasReasoning || Number(spent.reasoning_tokens) > 0);
}

/** What identifies the part of an answer that a delta belongs to. */
const PART_KEYS = ['type', 'item_id', 'output_index', 'content_index'];
const TERMINAL_EVENTS = new Set(['response.completed', 'response.incomplete', 'response.done']);

export function createResponseStreamRepair(exchange: WireExchange): StreamRepair {
  const items: JsonObject[] = [];
  let response: JsonObject = {};
  let hasBegun = false;
  let isFinished = false;

  /** The final event. Some services omit the items from it that they sent before. */
  function complete(final: JsonObject): JsonObject {
    const output =
      Array.isArray(final.output) && final.output.length > 0 ? final.output : items.filter(Boolean);
    isFinished = true;
    return { type: 'response.completed', response: repairResponse({ ...final, output }, exchange) };
  }

  return {
    keepAlive: () => ({ type: 'keepalive' }),
    accept(event, name) {
      const type = firstText(event.type) ?? name;
      const error = parseWireError(event);
      if (error !== undefined || type === 'response.failed') {
        return [{ error: error ?? { message: 'no reason given', status: 500 } }];
      }
      if (isFinished) return [];
      hasBegun = true;
      if (isJsonObject(event.response)) response = { ...response, ...event.response };
      if (TERMINAL_EVENTS.has(type)) return [complete(response)];
      if (type === 'response.output_item.done' && isJsonObject(event.item)) {
        items[typeof event.output_index === 'number' ? event.output_index : items.length] = event.item;
      }
      return [{ ...event, type }];
    },
    joinText(event, next) {
      const isSamePart =
        event.type === 'response.output_text.delta' &&
        PART_KEYS.every((key) => event[key] === next[key]) &&
        typeof event.delta === 'string' &&
        typeof next.delta === 'string';
      return isSamePart ? { ...next, delta: `${event.delta}${next.delta}` } : null;
    },
    isComplete: () => isFinished,
    finish(isClosed) {
      if (isFinished) return [];
      if (isClosed && items.length > 0) return [complete(response)];
      throw brokenStream(hasBegun);
    },
  };
}

/** A whole answer as stream events, for services that do not stream when asked to. */
export function toResponseEvents(response: JsonObject): JsonObject[] {
  const deltas = objectsIn(response.output)
    .map((item, index) => ({ index, text: item.type === 'message' ? contentText(item.content) : '' }))
    .filter(({ text }) => text !== '')
    .map(({ index, text }) => ({ type: 'response.output_text.delta', output_index: index, delta: text }));
  return [{ type: 'response.created', response }, ...deltas, { type: 'response.completed', response }];
}
