import { MASK, type Range, type Redactor } from '../../faults/redactor.ts';
import type { TapeChunk, TapeJson } from '../tape-format.ts';

interface Edit {
  start: number;
  end: number;
  replacement: string;
}

/**
 * The chunks of a stream without secrets, also without those that are spread over several chunks, or over the
 * deltas of several events. What goes away is replaced where it begins; the number of chunks stays.
 */
export function redactChunks(chunks: readonly TapeChunk[], redactor: Redactor): TapeChunk[] {
  const first = applied(chunks, deltaEdits(joined(chunks), redactor));
  const edits = redactor.ranges(joined(first)).map(([start, end]) => ({ start, end, replacement: MASK }));
  return applied(first, edits);
}

/** What a reader of the events would put together from their deltas: every sequence of strings at the same place. */
export function joinedDeltas(text: string): string[] {
  return [...sequences(eventsIn(text)).values()].map((parts) => parts.map(({ value }) => value).join(''));
}

/** The events of a stream, however it was cut; what is no JSON as its text. */
export function eventPayloads(chunks: readonly TapeChunk[]): TapeJson[] {
  return joined(chunks)
    .split(/\r?\n/)
    .filter((line) => line !== '' && !line.startsWith(':'))
    .map((line) => {
      try {
        return JSON.parse(line.replace(/^data:\s*/, '')) as TapeJson;
      } catch {
        return line;
      }
    });
}

export function joined(chunks: readonly TapeChunk[]): string {
  return chunks.map(({ data }) => data).join('');
}

interface StreamEvent {
  /** Where its JSON stands in the text. */
  start: number;
  end: number;
  json: unknown;
}

interface Part {
  event: StreamEvent;
  value: string;
  set(value: string): void;
}

function eventsIn(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  for (const match of text.matchAll(/^(?:data:[ ]?)?(\{.*\})\r?$/gm)) {
    const payload = match[1] ?? '';
    const start = match.index + match[0].indexOf(payload);
    try {
      events.push({ start, end: start + payload.length, json: JSON.parse(payload) as unknown });
    } catch {
      // Not an event; the text as a whole is looked through anyway.
    }
  }
  return events;
}

/** The strings of all events by the place that they have in their event. */
function sequences(events: readonly StreamEvent[]): Map<string, Part[]> {
  const found = new Map<string, Part[]>();
  for (const event of events) {
    const { type } = event.json as { type?: unknown };
    collect(event.json, String(type ?? ''), (place, value, set) => {
      const parts = found.get(place);
      const part = { event, value, set };
      if (parts === undefined) found.set(place, [part]);
      else parts.push(part);
    });
  }
  return found;
}

function collect(
  value: unknown,
  place: string,
  found: (place: string, text: string, set: (text: string) => void) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  const holder = value as Record<string, unknown>;
  for (const [key, each] of Object.entries(holder)) {
    const inner = `${place}/${key}`;
    if (typeof each !== 'string') collect(each, inner, found);
    else
      found(inner, each, (text) => {
        holder[key] = text;
      });
  }
}

function deltaEdits(text: string, redactor: Redactor): Edit[] {
  const changed = new Set<StreamEvent>();
  for (const parts of sequences(eventsIn(text)).values()) {
    if (parts.length < 2) continue;
    const ranges = redactor.ranges(parts.map(({ value }) => value).join(''));
    if (ranges.length > 0) for (const event of cutOut(parts, ranges)) changed.add(event);
  }
  return [...changed]
    .map(({ start, end, json }) => ({ start, end, replacement: JSON.stringify(json) }))
    .sort((a, b) => a.start - b.start);
}

function cutOut(parts: readonly Part[], ranges: readonly Range[]): StreamEvent[] {
  const pieces = parts.map(({ value }) => ({ delayMs: 0, data: value }));
  const cut = applied(
    pieces,
    ranges.map(([start, end]) => ({ start, end, replacement: MASK })),
  );
  return parts.flatMap(({ event, value, set }, index) => {
    const data = cut[index]?.data ?? '';
    if (data === value) return [];
    set(data);
    return [event];
  });
}

/** Edits of the joined text, in order and apart, applied to the pieces that it was joined from. */
function applied(chunks: readonly TapeChunk[], edits: readonly Edit[]): TapeChunk[] {
  if (edits.length === 0) return [...chunks];
  let at = 0;
  let next = 0;
  return chunks.map((chunk) => {
    const from = at;
    const to = at + chunk.data.length;
    at = to;
    let data = '';
    let position = from;
    for (let index = next; index < edits.length; index += 1) {
      const { start, end, replacement } = edits[index] as Edit;
      if (start >= to) break;
      if (start >= position) data += chunk.data.slice(position - from, start - from);
      if (start >= from) data += replacement;
      position = Math.min(Math.max(end, position), to);
      if (end > to) break;
      next = index + 1;
    }
    return { ...chunk, data: data + chunk.data.slice(position - from) };
  });
}
