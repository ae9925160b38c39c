import type { Redactor } from '../../faults/redactor.ts';
import { parseJson } from '../../text/parse-json.ts';
import type { TapeChunk, TapeJson } from '../tape-format.ts';

/**
 * Removes secrets from a stream, including those that are split over several chunks or over the deltas of several
 * events. A stream with a secret is then in its first chunk.
 */
export function redactChunks(chunks: readonly TapeChunk[], redactor: Redactor): TapeChunk[] {
  const text = joinStreamChunks(chunks);
  const redacted = redactor.text(redactDeltas(text, redactor));
  if (redacted === text) return [...chunks];
  return chunks.map(({ delayMs }, index) => ({ delayMs, data: index === 0 ? redacted : '' }));
}

/** The texts that a client puts together from the deltas of events: one for each path of a string in them. */
export function joinStreamDeltas(text: string): string[] {
  return groupStrings(parseStreamEvents(text)).map((strings) => strings.map(({ value }) => value).join(''));
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

const EVENT_PAYLOAD = /(?<=^(?:data:[ ]?)?)\{.*\}(?=\r?$)/gm;

/** The JSON of each event. */
function parseStreamEvents(text: string): unknown[] {
  return Array.from(text.matchAll(EVENT_PAYLOAD), ([payload]) => parseJson(payload));
}

interface EventString {
  value: string;
  replace(value: string): void;
}

/** The strings of all events, grouped by event type and path. */
function groupStrings(events: readonly unknown[]): EventString[][] {
  const groups = new Map<string, EventString[]>();
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const fields = value as Record<string, unknown>;
    for (const [key, each] of Object.entries(fields)) {
      const inner = `${path}/${key}`;
      if (typeof each !== 'string') {
        visit(each, inner);
        continue;
      }
      const replace = (text: string) => {
        fields[key] = text;
      };
      const strings = groups.get(inner) ?? [];
      if (strings.length === 0) groups.set(inner, strings);
      strings.push({ value: each, replace });
    }
  };
  for (const event of events) visit(event, String((event as { type?: unknown } | undefined)?.type ?? ''));
  return [...groups.values()];
}

/** Moves the text of deltas into the first one if a secret is split over them. */
function redactDeltas(text: string, redactor: Redactor): string {
  const events = parseStreamEvents(text);
  let isChanged = false;
  for (const strings of groupStrings(events)) {
    const joined = strings.map(({ value }) => value).join('');
    const redacted = redactor.text(joined);
    if (redacted === joined || redacted === strings.map(({ value }) => redactor.text(value)).join(''))
      continue;
    for (const [index, { replace }] of strings.entries()) replace(index === 0 ? redacted : '');
    isChanged = true;
  }
  if (!isChanged) return text;
  return text.replace(EVENT_PAYLOAD, (payload) => JSON.stringify(events.shift()) ?? payload);
}
