import { notAnAnswer } from './broken-answer.ts';
import { isObject, type JsonObject, parseJson } from './json-object.ts';
import { createEventParser, type ServerSentEvent } from './server-sent-events.ts';

/** Knows one API. Lives as long as one stream. */
export interface StreamMender {
  /** An event that only shows that the service is alive. */
  readonly signOfLife: JsonObject;
  /** What to pass on for an event that came; `name` is that of its `event:` line. */
  accept(event: JsonObject, name: string): JsonObject[];
  /** Whether the answer is complete, so that it does not matter how the connection ends. */
  isDone(): boolean;
  /** What to add at the end. `closed` tells that the service sent `[DONE]`. Throws if the answer is cut. */
  finish(closed: boolean): JsonObject[];
}

/** The stream of events as the specification has it, made from the one that came. */
export function mendStream(
  body: ReadableStream<Uint8Array>,
  mender: StreamMender,
): ReadableStream<Uint8Array> {
  return ReadableStream.from(mendedBytes(body, mender));
}

async function* mendedBytes(
  body: ReadableStream<Uint8Array>,
  mender: StreamMender,
): AsyncGenerator<Uint8Array> {
  const parser = createEventParser();
  const encoder = new TextEncoder();
  let closed = false;

  /** Passes on in one piece what came in one, and what precedes a fault before the fault. */
  function* mend(events: ServerSentEvent[]): Generator<Uint8Array> {
    let text = '';
    try {
      for (const { event, data, ended } of events) {
        closed ||= data?.trim() === '[DONE]';
        if (closed) break;
        if (data === null) text += encode(mender.signOfLife);
        else
          for (const value of valuesIn(data, event, ended))
            text += mender.accept(value, event).map(encode).join('');
      }
    } finally {
      if (text !== '') yield encoder.encode(text);
    }
  }

  try {
    for await (const bytes of body) {
      yield* mend(parser.push(bytes));
      if (closed) break;
    }
    if (!closed) yield* mend(parser.end());
  } catch (error) {
    if (!mender.isDone()) throw error;
  }
  yield encoder.encode(`${mender.finish(closed).map(encode).join('')}data: [DONE]\n\n`);
}

/**
 * Mostly one value; several where a server leaves out the empty line between events. Of an event that the
 * stream ends within, what cannot be read is left out.
 */
function valuesIn(data: string, event: string, ended: boolean): JsonObject[] {
  const whole = parseJson(data);
  const values = whole === undefined ? data.split('\n').map(parseJson) : [whole].flat();
  if (!ended && values.at(-1) === undefined) values.pop();
  if (!values.every(isObject)) throw notAnAnswer(data);
  return event === 'error' ? values.map((value) => ({ error: value, ...value })) : values;
}

function encode(event: JsonObject): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
