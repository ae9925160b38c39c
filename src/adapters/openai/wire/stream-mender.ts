import { type AnswerLimits, endlessAnswer, endlessEvent, notAnAnswer } from './broken-answer.ts';
import { isObject, type JsonObject, parseJson } from './json-object.ts';

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
 * An event with an error ends them with what `errorOf` makes of it. No more is read than the limits allow.
 */
export async function* mendedEvents(
  body: ReadableStream<Uint8Array>,
  mender: StreamMender,
  errorOf: (error: object) => Error,
  limits: AnswerLimits,
): AsyncGenerator<JsonObject, void, undefined> {
  const source = body.getReader();
  const parser = createEventParser();
  let closed = false;
  let received = 0;
  try {
    while (!closed) {
      let arrived: ServerSentEvent[];
      let done = false;
      try {
        const read = await source.read();
        done = read.done;
        received += read.value?.length ?? 0;
        if (received > limits.answer) throw endlessAnswer(limits.answer);
        arrived = read.done ? parser.end() : parser.push(read.value);
        if (parser.pending > limits.event) throw endlessEvent(limits.event);
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
    if (closed) await letEnd(source);
    else source.cancel().catch(() => undefined);
  }
}

/** How long a stream may go on after it said that it is done. */
const END_PATIENCE_MS = 100;

/** Reads what is left, which is nothing as a rule: a connection that is not cut serves the next request. */
async function letEnd(source: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const cut = () => source.cancel().catch(() => undefined);
  const patience = setTimeout(cut, END_PATIENCE_MS);
  try {
    while (!(await source.read()).done);
  } catch {
    // The answer is complete.
  } finally {
    clearTimeout(patience);
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

/** One event, or a comment: a sign of life, with no data. */
interface ServerSentEvent {
  event: string;
  /** Null for a comment. */
  data: string | null;
  /** False for the last one if the stream ends within it, or without the empty line that should follow. */
  ended: boolean;
}

interface EventParser {
  /** How long the event that is not yet complete is so far, in characters. */
  readonly pending: number;
  /** The events that these bytes complete. */
  push(bytes: Uint8Array): ServerSentEvent[];
  /** What is left when the stream has ended. */
  end(): ServerSentEvent[];
}

const NONE: readonly ServerSentEvent[] = [];
const FIELD = /^\s*(data|event|id|retry)\s*:\s?(.*)$/s;

/**
 * Parses server-sent events as they come. Tolerates what servers do: fields that are indented, bare lines of
 * JSON without `data:`, any line ending, and no empty line after the last event.
 */
function createEventParser(): EventParser {
  const decoder = new TextDecoder();
  let rest = '';
  let event = '';
  let data: string[] = [];
  let held = 0;

  function dispatch(ended: boolean): readonly ServerSentEvent[] {
    const events = data.length > 0 ? [{ event, data: data.join('\n'), ended }] : NONE;
    event = '';
    data = [];
    held = 0;
    return events;
  }

  function readLine(line: string): readonly ServerSentEvent[] {
    // As nearly every line is.
    if (line === '') return dispatch(true);
    held += line.length;
    if (line.startsWith('data: ')) {
      data.push(line.slice(6));
      return NONE;
    }
    if (line.trim() === '') return dispatch(true);
    if (line.startsWith(':')) return [{ event: '', data: null, ended: true }];
    const [, field, value = ''] = FIELD.exec(line) ?? [];
    if (field === 'event') event = value.trim();
    else if (field === 'data') data.push(value);
    else if (field === undefined) data.push(line);
    return NONE;
  }

  return {
    get pending() {
      return rest.length + held;
    },
    push(bytes) {
      rest += decoder.decode(bytes, { stream: true });
      // A carriage return at the very end may be half of a line ending.
      const lines = rest.includes('\r') ? rest.split(/\r\n|\n|\r(?!$)/) : rest.split('\n');
      rest = lines.pop() ?? '';
      return lines.flatMap(readLine);
    },
    end() {
      rest += decoder.decode();
      const lines = rest === '' ? [] : rest.split('\r');
      return [...lines.flatMap(readLine), ...dispatch(false)];
    },
  };
}
