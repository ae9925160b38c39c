import { isJsonObject, parseJson } from '../../../text/parse-json.ts';
import { type AnswerLimits, answerTooLong, eventTooLong, notAnAnswer } from './answer-errors.ts';
import type { JsonObject } from './json-object.ts';

export interface StreamRepair {
  /** An event without content, passed on for a comment so that the stream does not count as idle for a while. */
  keepAlive(): JsonObject;
  /** The events to pass on for one that arrived; `name` is the value of its `event:` line. */
  accept(event: JsonObject, name: string): JsonObject[];
  /** One event for the text of both, or null if they cannot be joined. */
  joinText(event: JsonObject, next: JsonObject): JsonObject | null;
  /** Whether the answer is complete, so that errors of the connection no longer matter. */
  isComplete(): boolean;
  /** The events to add at the end. `isClosed` is set if the service sent `[DONE]`. Throws if the answer is cut off. */
  finish(isClosed: boolean): JsonObject[];
}

/** A stream of nothing but comments counts as idle after this time; slow models think meanwhile. */
const COMMENTS_MS = 240_000;

/** The repaired events of a stream, as they arrive together. Those before an error are passed on first. Throws beyond the limits. */
export async function* repairEvents(
  body: ReadableStream<Uint8Array>,
  repair: StreamRepair,
  limits: AnswerLimits,
): AsyncGenerator<JsonObject[], void, undefined> {
  const source = body.getReader();
  const parser = createEventParser();
  let isClosed = false;
  let received = 0;
  let dataAt = performance.now();
  try {
    for (let isDone = false; !isDone && !isClosed; ) {
      let arrived: ServerSentEvent[];
      try {
        const read = await source.read();
        isDone = read.done;
        received += read.value?.length ?? 0;
        if (received > limits.answerBytes) throw answerTooLong(limits.answerBytes);
        arrived = read.done ? parser.end() : parser.push(read.value);
        if (parser.pendingLength() > limits.eventBytes) throw eventTooLong(limits.eventBytes);
      } catch (error) {
        if (!repair.isComplete()) throw error;
        break;
      }
      const repaired: JsonObject[] = [];
      try {
        for (const { name, data, isEnded } of arrived) {
          isClosed ||= data?.trim() === '[DONE]';
          if (isClosed) break;
          if (data === null) {
            if (performance.now() - dataAt < COMMENTS_MS) repaired.push(repair.keepAlive());
            continue;
          }
          dataAt = performance.now();
          for (const value of parseValues(data, name, isEnded))
            for (const event of repair.accept(value, name)) addEvent(repaired, event, repair);
        }
      } catch (error) {
        if (repaired.length > 0) yield repaired;
        throw error;
      }
      if (repaired.length > 0) yield repaired;
    }
    yield repair.finish(isClosed);
  } finally {
    if (isClosed) await drain(source);
    else source.cancel().catch(() => undefined);
  }
}

/** Text that arrives together is passed on together: every event costs the client and the SDK time. */
function addEvent(events: JsonObject[], event: JsonObject, repair: StreamRepair): void {
  const last = events.at(-1);
  const joined = last === undefined ? null : repair.joinText(last, event);
  if (joined === null) events.push(event);
  else events[events.length - 1] = joined;
}

/** How long a stream may continue after `[DONE]` before it is canceled. */
const DRAIN_MS = 100;

/** Reads to the end, because a connection whose response was read to the end is reused. */
async function drain(source: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => source.cancel().catch(() => undefined), DRAIN_MS);
  try {
    while (!(await source.read()).done);
  } catch {
    // The answer is complete.
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The objects in the data of an event: several if a server omits the empty line between events. If the stream ended
 * within the event, a cut-off last value is dropped.
 */
function parseValues(data: string, name: string, isEnded: boolean): JsonObject[] {
  const whole = parseJson(data);
  const values = whole === undefined ? data.split('\n').map(parseJson) : [whole].flat();
  if (!isEnded && values.at(-1) === undefined) values.pop();
  if (!values.every(isJsonObject)) throw notAnAnswer(data);
  return name === 'error' ? values.map((value) => ({ error: value, ...value })) : values;
}

interface ServerSentEvent {
  name: string;
  /** Null for a comment. */
  data: string | null;
  /** False for the last event if no empty line follows it. */
  isEnded: boolean;
}

const FIELD = /^\s*(data|event|id|retry)\s*:\s?(.*)$/s;

/** Tolerates any line ending, indented fields, and JSON lines without a field name. */
function createEventParser() {
  const decoder = new TextDecoder();
  let rest = '';
  let name = '';
  let data: string[] = [];
  let length = 0;

  function endEvent(isEnded: boolean): ServerSentEvent[] {
    const events = data.length > 0 ? [{ name, data: data.join('\n'), isEnded }] : [];
    name = '';
    data = [];
    length = 0;
    return events;
  }

  function readLine(line: string): ServerSentEvent[] {
    if (line.trim() === '') return endEvent(true);
    length += line.length;
    if (line.startsWith(':')) return [{ name: '', data: null, isEnded: true }];
    const [, field, value = ''] = FIELD.exec(line) ?? [];
    if (field === 'event') name = value.trim();
    else if (field === 'data') data.push(value);
    else if (field === undefined) data.push(line);
    return [];
  }

  return {
    /** The length of the incomplete event so far. */
    pendingLength: () => rest.length + length,
    /** The events that these bytes complete. */
    push(bytes: Uint8Array): ServerSentEvent[] {
      rest += decoder.decode(bytes, { stream: true });
      // A carriage return at the end may be the first half of a line ending.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      return lines.flatMap(readLine);
    },
    end(): ServerSentEvent[] {
      rest += decoder.decode();
      const lines = rest === '' ? [] : rest.split('\r');
      return [...lines.flatMap(readLine), ...endEvent(false)];
    },
  };
}
