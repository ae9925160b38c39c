import { notAnAnswer } from './broken-answer.ts';
import { isObject, type JsonObject, parseJson } from './json-object.ts';
import { createEventParser, type ServerSentEvent } from './server-sent-events.ts';

/** Knows one API. Lives as long as one stream. */
export interface StreamMender {
  /** An event that only shows that the service is alive. */
  readonly signOfLife: JsonObject;
  /** What to pass on for an event that came, itself if it is as it should be; `name` is that of its `event:` line. */
  accept(event: JsonObject, name: string): JsonObject[];
  /** Whether the answer is complete, so that it does not matter how the connection ends. */
  isDone(): boolean;
  /** What to add at the end. `closed` tells that the service sent `[DONE]`. Throws if the answer is cut. */
  finish(closed: boolean): JsonObject[];
}

/**
 * The events of a stream as the specification has them, made from those that came, and parsed: they are not
 * written out again for the client to read them a second time. What precedes a fault comes before the fault.
 * An event with an error ends them with what `errorOf` makes of it.
 */
export async function* mendedEvents(
  body: ReadableStream<Uint8Array>,
  mender: StreamMender,
  errorOf: (error: object) => Error,
): AsyncGenerator<JsonObject, void, undefined> {
  const source = body.getReader();
  const parser = createEventParser();
  let closed = false;
  try {
    while (!closed) {
      let arrived: ServerSentEvent[];
      let done = false;
      try {
        const read = await source.read();
        done = read.done;
        arrived = read.done ? parser.end() : parser.push(read.value);
      } catch (error) {
        if (!mender.isDone()) throw error;
        break;
      }
      for (const { event, data, ended } of arrived) {
        closed ||= data?.trim() === '[DONE]';
        if (closed) break;
        if (data === null) yield mender.signOfLife;
        else {
          for (const value of valuesIn(data, event, ended)) {
            for (const mended of mender.accept(value, event)) {
              if (mended.error) throw errorOf(mended.error);
              yield mended;
            }
          }
        }
      }
      if (done) break;
    }
    yield* mender.finish(closed);
  } finally {
    source.cancel().catch(() => undefined);
  }
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
