import { LARGE_INTEGER } from './tape-exchange.ts';
import type {
  TapeBody,
  TapeChunk,
  TapeExchange,
  TapeJson,
  TapeResponse,
  WrittenBody,
  WrittenChunk,
  WrittenEvent,
  WrittenExchange,
} from './tape-format.ts';

/** From this length on a list of numbers, such as an embedding, is one value. */
const LONG_LIST = 16;

/**
 * Serializes an exchange for people and for `git diff`: one value, event or line of text per line. The caller leaves out
 * the id where the position in the file gives it: an inserted exchange would change all ids after it.
 */
export function layOutExchange(exchange: Omit<TapeExchange, 'id'> & { id?: number }): string {
  const { request, response, ...rest } = exchange;
  const { body, chunks, ...answer } = response ?? {};
  const written = {
    ...rest,
    request: { ...request, ...(request.body && { body: writtenBody(request.body) }) },
    ...(response && {
      response: {
        ...answer,
        ...(body && { body: writtenBody(body) }),
        ...(chunks && { chunks: chunks.map(writtenChunk) }),
      },
    }),
  };
  return layOut(written, '    ');
}

/** What was written, with the number that its place gives it where it has none of its own. */
export function exchangeOf({ id, request, response, ...rest }: WrittenExchange, place: number): TapeExchange {
  return {
    ...rest,
    id: id ?? place,
    request: { ...request, body: bodyOf(request.body) },
    ...(response && { response: responseOf(response) }),
  };
}

function responseOf({ body, chunks, ...answer }: NonNullable<WrittenExchange['response']>): TapeResponse {
  return { ...answer, body: bodyOf(body), chunks: chunks?.map(chunkOf) };
}

function bodyOf(body: WrittenBody | undefined): TapeBody | undefined {
  return body !== undefined && 'text' in body ? { text: textOf(body.text) } : body;
}

function writtenBody(body: TapeBody): WrittenBody {
  return 'text' in body ? { text: linesOf(body.text) } : body;
}

function linesOf(text: string): string | string[] {
  return text.includes('\n') ? text.split('\n') : text;
}

function textOf(text: string | readonly string[]): string {
  return typeof text === 'string' ? text : text.join('\n');
}

const EVENT = /(?:event: ([^\r\n]*)\n)?data: ([^\r\n]*)\n\n/y;

function writtenChunk({ delayMs, data }: TapeChunk): WrittenChunk {
  const events = eventsOf(data);
  return events === null ? { delayMs, data: linesOf(data) } : { delayMs, events };
}

/** Null for a chunk that is no list of whole events in the usual spelling. */
function eventsOf(text: string): WrittenEvent[] | null {
  const events: WrittenEvent[] = [];
  EVENT.lastIndex = 0;
  while (EVENT.lastIndex < text.length) {
    const match = EVENT.exec(text);
    if (match === null) return null;
    const [, event, data = ''] = match;
    events.push({ ...(event !== undefined && { event }), ...payloadOf(data) });
  }
  return events.length === 0 ? null : events;
}

/** JSON is kept as its value, as in bodies. */
function payloadOf(data: string): Pick<WrittenEvent, 'data' | 'text'> {
  try {
    if (/^[{[]/.test(data) && !LARGE_INTEGER.test(data)) return { data: JSON.parse(data) as TapeJson };
  } catch {
    // A text, such as [DONE].
  }
  return { text: data };
}

function chunkOf(chunk: WrittenChunk): TapeChunk {
  if ('data' in chunk) return { delayMs: chunk.delayMs, data: textOf(chunk.data) };
  const data = chunk.events.map(({ event, data: json, text }) => {
    const named = event === undefined ? '' : `event: ${event}\n`;
    return `${named}data: ${text ?? JSON.stringify(json)}\n\n`;
  });
  return { delayMs: chunk.delayMs, data: data.join('') };
}

/** JSON with one value a line; long lists of numbers and events of streams are values. */
export function layOut(value: unknown, indent: string, key = ''): string {
  return `${indent}${laidOut(value, indent, key)}`;
}

function laidOut(value: unknown, indent: string, key: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0 || isLongList(value)) return JSON.stringify(value);
    const items = value.map((each: unknown) =>
      key === 'events' ? `${inner}${JSON.stringify(each)}` : layOut(each, inner),
    );
    return `[\n${items.join(',\n')}\n${indent}]`;
  }
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  if (fields.length === 0) return '{}';
  const lines = fields.map(
    ([name, each]) => `${inner}${JSON.stringify(name)}: ${laidOut(each, inner, name)}`,
  );
  return `{\n${lines.join(',\n')}\n${indent}}`;
}

function isLongList(list: readonly unknown[]): boolean {
  return list.length >= LONG_LIST && list.every((each) => typeof each === 'number');
}
