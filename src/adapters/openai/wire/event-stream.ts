import { isJsonObject, parseJson } from '../../../text/parse-json.ts';
import { eventTooLong, notAnAnswer } from './answer-errors.ts';
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

/** The repaired events of a stream, as they arrive together. Those before an error are passed on first. */
export async function* repairEvents(
  body: ReadableStream<Uint8Array>,
  repair: StreamRepair,
  maxEventBytes: number,
): AsyncGenerator<JsonObject[], void, undefined> {
  const source = body.getReader();
  const parser = createEventParser();
  let isClosed = false;
  let dataAt = performance.now();
  try {
    for (let isDone = false; !isDone && !isClosed; ) {
      let arrived: ServerSentEvent[];
      try {
        const read = await source.read();
        isDone = read.done;
        arrived = read.done ? parser.end() : parser.push(read.value);
        if (parser.pendingLength() > maxEventBytes) throw eventTooLong(maxEventBytes);
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
          for (const value of parseValues({ name, data, isEnded }))
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

/** The objects in the data of an event. If the stream ended within the event, data that is cut off is dropped. */
function parseValues({ name, data, isEnded }: ServerSentEvent & { data: string }): JsonObject[] {
  const value = parseJson(data);
  if (value === undefined && !isEnded) return [];
  const values = [value].flat();
  if (!values.every(isJsonObject)) throw notAnAnswer(data);
  return name === 'error' ? values.map((each) => ({ error: each, ...each })) : values;
}

interface ServerSentEvent {
  name: string;
  /** Null for a comment. */
  data: string | null;
  /** False for the last event if no empty line follows it. */
  isEnded: boolean;
}

function createEventParser() {
  const decoder = new TextDecoder();
  let rest = '';
  return {
    /** The length of the incomplete event so far. */
    pendingLength: () => rest.length,
    /** The events that these bytes complete. */
    push(bytes: Uint8Array): ServerSentEvent[] {
      rest += decoder.decode(bytes, { stream: true });
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? '';
      return blocks.flatMap((block) => parseEvent(block, true));
    },
    end: () => parseEvent(rest + decoder.decode(), false),
  };
}

function parseEvent(block: string, isEnded: boolean): ServerSentEvent[] {
  const lines = block.split(/\r?\n/);
  const valuesOf = (field: string) =>
    lines.flatMap((line) => (line.startsWith(field) ? line.slice(field.length).replace(/^ /, '') : []));
  const data = valuesOf('data:');
  if (data.length > 0) return [{ name: valuesOf('event:')[0]?.trim() ?? '', data: data.join('\n'), isEnded }];
  // Some services send an error in a stream as a bare object.
  if (/^\s*\{/.test(block)) return [{ name: '', data: block, isEnded }];
  return lines.some((line) => line.startsWith(':')) ? [{ name: '', data: null, isEnded }] : [];
}
