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

/** The stream of events as the specification has it, made from the one that came. */
export function mendStream(
  body: ReadableStream<Uint8Array>,
  mender: StreamMender,
): ReadableStream<Uint8Array> {
  const source = body.getReader();
  const parser = createEventParser();
  const encoder = new TextEncoder();
  let text = '';
  let closed = false;

  function mend(events: ServerSentEvent[]): void {
    for (const { event, data, ended } of events) {
      closed ||= data?.trim() === '[DONE]';
      if (closed) return;
      if (data === null) text += encode(mender.signOfLife);
      else for (const value of valuesIn(data, event, ended)) pass(value, event, data);
    }
  }

  function pass(value: JsonObject, event: string, data: string): void {
    for (const mended of mender.accept(value, event)) {
      text += mended === value ? asItCame(data, value) : encode(mended);
    }
  }

  const release = () => void source.cancel().catch(() => undefined);

  /** Reads on; false at the end. */
  async function mendNext(): Promise<boolean> {
    try {
      const { done, value } = await source.read();
      mend(done ? parser.end() : parser.push(value));
      if (!done && !closed) return true;
    } catch (error) {
      release();
      if (!mender.isDone()) throw error;
    }
    release();
    for (const event of mender.finish(closed)) text += encode(event);
    text += 'data: [DONE]\n\n';
    return false;
  }

  return new ReadableStream(
    {
      async pull(controller) {
        let goesOn = true;
        try {
          while (goesOn && text === '') goesOn = await mendNext();
        } finally {
          // Nothing is pulled unless someone waits for it: what precedes a fault reaches them before the fault.
          if (text !== '') controller.enqueue(encoder.encode(text));
          text = '';
        }
        if (!goesOn) controller.close();
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 },
  );
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

/** Several values may have come in one event, or one on several lines. */
function asItCame(data: string, event: JsonObject): string {
  return data.startsWith('{') && !data.includes('\n') ? `data: ${data}\n\n` : encode(event);
}

function encode(event: JsonObject): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
