import { brokenStream } from './broken-answer.ts';
import type { Exchange } from './exchange.ts';
import { firstText, isObject, type JsonObject } from './json-object.ts';
import { contentText } from './mend-chat-completion.ts';
import { mendResponse } from './mend-response.ts';
import type { StreamMender } from './stream-mender.ts';
import { wireErrorOf } from './wire-error.ts';

const TERMINAL = new Set(['response.completed', 'response.incomplete', 'response.done']);

/** Mends the events of a Responses API stream. */
export function createResponseStreamMender(exchange: Exchange): StreamMender {
  const items: JsonObject[] = [];
  let response: JsonObject = {};
  let begun = false;
  let finished = false;

  /** The last event. Some services leave the items out of it that they sent before. */
  function complete(final: JsonObject): JsonObject {
    const output =
      Array.isArray(final.output) && final.output.length > 0 ? final.output : items.filter(Boolean);
    finished = true;
    return { type: 'response.completed', response: mendResponse({ ...final, output }, exchange) };
  }

  return {
    signOfLife: { type: 'keepalive' },
    accept(event, name) {
      const type = firstText(event.type) ?? name;
      const error = wireErrorOf(event);
      if (error !== undefined || type === 'response.failed') {
        return [{ error: error ?? { message: 'no reason given', status: 500 } }];
      }
      if (finished) return [];
      begun = true;
      if (isObject(event.response)) response = { ...response, ...event.response };
      if (TERMINAL.has(type)) return [complete(response)];
      if (type === 'response.output_item.done' && isObject(event.item)) {
        items[typeof event.output_index === 'number' ? event.output_index : items.length] = event.item;
      }
      return [{ ...event, type }];
    },
    isDone: () => finished,
    finish(closed) {
      if (finished) return [];
      if (closed && items.length > 0) return [complete(response)];
      throw brokenStream(begun);
    },
  };
}

/** The same answer as a stream would have brought it, for services that do not stream when asked to. */
export function responseAsEvents(response: JsonObject): JsonObject[] {
  const output = Array.isArray(response.output) ? response.output.filter(isObject) : [];
  const texts = output
    .map((item, index) => ({ index, text: item.type === 'message' ? contentText(item.content) : '' }))
    .filter(({ text }) => text !== '')
    .map(({ index, text }) => ({ type: 'response.output_text.delta', output_index: index, delta: text }));
  return [{ type: 'response.created', response }, ...texts, { type: 'response.completed', response }];
}
