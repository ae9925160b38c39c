import { isEmbeddingVector } from './match-key.ts';
import type { TapeBody, TapeChunk, TapeExchange } from './tape-format.ts';
import { tryParseExactJson } from './tape-http.ts';

/**
 * Serializes an exchange for people and for `git diff`: one value, event or line of text per line. The caller leaves out
 * the id where the position in the file gives it: an inserted exchange would change all ids after it.
 */
export function serializeExchange(exchange: Omit<TapeExchange, 'id'> & { id?: number }): string {
  const { request, response, ...rest } = exchange;
  const { body, chunks, ...responseFields } = response ?? {};
  const stored = {
    ...rest,
    request: { ...request, ...(request.body && { body: toStoredBody(request.body) }) },
    ...(response && {
      response: {
        ...responseFields,
        ...(body && { body: toStoredBody(body) }),
        ...(chunks && { chunks: chunks.map(toStoredChunk) }),
      },
    }),
  };
  return formatTapeJson(stored, '    ');
}

function toStoredBody(body: TapeBody): object {
  return 'text' in body ? { text: splitLines(body.text) } : body;
}

function splitLines(text: string): string | string[] {
  return text.includes('\n') ? text.split('\n') : text;
}

function toStoredChunk({ delayMs, data }: TapeChunk): object {
  const events = parseEvents(data);
  return events === null ? { delayMs, data: splitLines(data) } : { delayMs, events };
}

const SSE_EVENT = /(?:event: ([^\r\n]*)\n)?data: ([^\r\n]*)\n\n/y;

/** Null unless the chunk consists of complete events in the usual format. */
function parseEvents(chunk: string): object[] | null {
  const events: object[] = [];
  SSE_EVENT.lastIndex = 0;
  while (SSE_EVENT.lastIndex < chunk.length) {
    const match = SSE_EVENT.exec(chunk);
    if (match === null) return null;
    const [, event, data = ''] = match;
    // Other data, such as [DONE], stays text.
    const json = /^[{[]/.test(data) ? tryParseExactJson(data) : undefined;
    const payload = json === undefined ? { text: data } : { data: json };
    events.push({ ...(event !== undefined && { event }), ...payload });
  }
  return events.length === 0 ? null : events;
}

/** JSON with one value per line. Embeddings and the events of streams are one value each. */
export function formatTapeJson(value: unknown, indent: string): string {
  return indent + formatValue(value, indent, '');
}

function formatValue(value: unknown, indent: string, key: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0 || isEmbeddingVector(value)) return JSON.stringify(value);
    const items = value.map((each: unknown) =>
      key === 'events' ? JSON.stringify(each) : formatValue(each, inner, ''),
    );
    return `[\n${inner}${items.join(`,\n${inner}`)}\n${indent}]`;
  }
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  if (fields.length === 0) return '{}';
  const lines = fields.map(([name, each]) => `${JSON.stringify(name)}: ${formatValue(each, inner, name)}`);
  return `{\n${inner}${lines.join(`,\n${inner}`)}\n${indent}}`;
}
