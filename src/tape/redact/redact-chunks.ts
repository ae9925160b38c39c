import { REDACTED, type RedactedRange, type Redactor } from '../../faults/redactor.ts';
import { parseJson } from '../../text/parse-json.ts';
import type { TapeChunk, TapeJson } from '../tape-format.ts';

interface TextEdit {
  start: number;
  end: number;
  replacement: string;
}

/**
 * Removes secrets from a stream, including those that are split over several chunks or over the deltas of several
 * events. The number of chunks stays.
 */
export function redactChunks(chunks: readonly TapeChunk[], redactor: Redactor): TapeChunk[] {
  const withoutDeltas = applyEdits(chunks, findDeltaEdits(joinStreamChunks(chunks), redactor));
  return applyEdits(withoutDeltas, maskEdits(redactor.ranges(joinStreamChunks(withoutDeltas))));
}

/** The texts that a client puts together from the deltas of events: one for each path of a string in them. */
export function joinStreamDeltas(text: string): string[] {
  return [...groupStrings(parseStreamEvents(text)).values()].map((strings) =>
    strings.map(({ value }) => value).join(''),
  );
}

/** The JSON payload of each line of a stream, or the line if it is not JSON. */
export function parseEventPayloads(chunks: readonly TapeChunk[]): TapeJson[] {
  return joinStreamChunks(chunks)
    .split(/\r?\n/)
    .filter((line) => line !== '' && !line.startsWith(':'))
    .map((line) => parseJson<TapeJson>(line.replace(/^data:\s*/, '')) ?? line);
}

export function joinStreamChunks(chunks: readonly TapeChunk[]): string {
  return chunks.map(({ data }) => data).join('');
}

interface StreamEvent {
  /** Range of its JSON in the text. */
  start: number;
  end: number;
  json: unknown;
}

function parseStreamEvents(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  for (const match of text.matchAll(/^(?:data:[ ]?)?(\{.*\})\r?$/gm)) {
    const payload = match[1] ?? '';
    const start = match.index + match[0].indexOf(payload);
    const json = parseJson<TapeJson>(payload);
    if (json !== undefined) events.push({ start, end: start + payload.length, json });
  }
  return events;
}

interface EventString {
  event: StreamEvent;
  value: string;
  replace(value: string): void;
}

/** The strings of all events, grouped by event type and path. */
function groupStrings(events: readonly StreamEvent[]): Map<string, EventString[]> {
  const groups = new Map<string, EventString[]>();
  const visit = (event: StreamEvent, value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const fields = value as Record<string, unknown>;
    for (const [key, each] of Object.entries(fields)) {
      const inner = `${path}/${key}`;
      if (typeof each !== 'string') {
        visit(event, each, inner);
        continue;
      }
      const replace = (text: string) => {
        fields[key] = text;
      };
      const strings = groups.get(inner) ?? [];
      if (strings.length === 0) groups.set(inner, strings);
      strings.push({ event, value: each, replace });
    }
  };
  for (const event of events) visit(event, event.json, String((event.json as { type?: unknown }).type ?? ''));
  return groups;
}

/** Edits that replace each event of which a delta is part of a secret. */
function findDeltaEdits(text: string, redactor: Redactor): TextEdit[] {
  const changed = new Set<StreamEvent>();
  for (const strings of groupStrings(parseStreamEvents(text)).values()) {
    if (strings.length < 2) continue;
    const pieces = strings.map(({ value }) => ({ delayMs: 0, data: value }));
    const redacted = applyEdits(pieces, maskEdits(redactor.ranges(joinStreamChunks(pieces))));
    for (const [index, { event, value, replace }] of strings.entries()) {
      const { data = '' } = redacted[index] ?? {};
      if (data === value) continue;
      replace(data);
      changed.add(event);
    }
  }
  return [...changed]
    .map(({ start, end, json }) => ({ start, end, replacement: JSON.stringify(json) }))
    .sort((a, b) => a.start - b.start);
}

function maskEdits(ranges: readonly RedactedRange[]): TextEdit[] {
  return ranges.map(([start, end]) => ({ start, end, replacement: REDACTED }));
}

/** Applies edits of the joined text to the chunks. The edits are sorted and do not overlap. */
function applyEdits(chunks: readonly TapeChunk[], edits: readonly TextEdit[]): TapeChunk[] {
  if (edits.length === 0) return [...chunks];
  let to = 0;
  let next = 0;
  return chunks.map((chunk) => {
    const from = to;
    to += chunk.data.length;
    let data = '';
    let position = from;
    for (let index = next; index < edits.length; index += 1) {
      const { start, end, replacement } = edits[index] as TextEdit;
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
