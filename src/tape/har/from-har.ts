import { validated } from '../../domain/validated.ts';
import { tapeBody, textBody } from '../tape-body.ts';
import {
  headerSchema,
  type TapeChunk,
  type TapeExchange,
  type TapeHeader,
  type TapeJson,
} from '../tape-format.ts';
import { harBody } from './har-body.ts';
import { type HarEntry, harSchema } from './har-format.ts';

export interface HarTape {
  header: TapeHeader;
  exchanges: TapeExchange[];
  outputs: TapeJson;
}

/** A HAR file of a browser, of Polly or of our own as a tape, not yet redacted. Throws `invalid_input`. */
export function fromHar(document: unknown, path: string): HarTape {
  const { log } = validated(harSchema, document, `The HAR file ${path}`);
  const entries = log.entries.filter(({ request }) => /^https?:/i.test(request.url));
  const times = entries.map(({ startedDateTime }) => Date.parse(startedDateTime ?? ''));
  const first = Math.min(...times.filter((time) => !Number.isNaN(time)));
  const began = Number.isFinite(first) ? first : 0;
  const lanes: number[] = [];
  const exchanges = entries.map((entry, index) => {
    const startedAtMs = Math.max(0, (times[index] || began) - began);
    const durationMs = Math.max(0, entry.time ?? 0);
    const free = lanes.findIndex((until) => until <= startedAtMs);
    const lane = free < 0 ? lanes.length : free;
    lanes[lane] = startedAtMs + durationMs;
    return { id: index + 1, startedAtMs, durationMs, lane, ...exchangeOf(entry) };
  });
  const ours = headerSchema.safeParse(log._tape?.header);
  return {
    exchanges,
    outputs: (log._tape?.outputs ?? null) as TapeJson,
    header: ours.data ?? {
      version: 1,
      origin: 'recorded',
      note: `Imported from a HAR file${log._recordingName === undefined ? '' : ` of the recording "${log._recordingName}"`}.`,
      madeBy: { program: log.creator.name, version: log.creator.version },
      createdAt: new Date(began).toISOString(),
      seed: 'har',
      model: null,
      command: null,
      inputs: {},
      redact: [],
    },
  };
}

function exchangeOf(entry: HarEntry): Pick<TapeExchange, 'request' | 'response' | 'failure'> {
  const { request, response } = entry;
  const headers = headersOf(request.headers);
  const exchange = {
    request: {
      method: request.method.toUpperCase(),
      url: new URL(request.url).href,
      headers,
      ...requestBody(entry),
    },
  };
  const failure = entry._failure ?? failureIn(entry);
  if (response.status < 200)
    return { ...exchange, failure: failure ?? { name: 'TypeError', message: 'fetch failed' } };
  return {
    ...exchange,
    response: { status: response.status, headers: headersOf(response.headers), ...responseBody(entry) },
    ...(failure && { failure }),
  };
}

function failureIn({ response: { _error: error, status } }: HarEntry): TapeExchange['failure'] {
  if (!error || status >= 200) return undefined;
  return { name: 'TypeError', message: 'fetch failed', code: error.replace(/^net::ERR_/, '') };
}

function requestBody({ request: { postData, headers } }: HarEntry): Pick<TapeExchange['request'], 'body'> {
  if (!postData) return {};
  const type = postData.mimeType || (headersOf(headers)['content-type'] ?? null);
  if (postData.encoding === 'base64') {
    const body = tapeBody(Buffer.from(postData.text ?? '', 'base64'), type);
    return body ? { body } : {};
  }
  const fields = (postData.params ?? []).map(({ name, value }): [string, string] => [name, value]);
  const text = postData.text ?? new URLSearchParams(fields).toString();
  return text === '' ? {} : { body: textBody(text, type) };
}

function responseBody(entry: HarEntry): Pick<NonNullable<TapeExchange['response']>, 'body' | 'chunks'> {
  const { content, headers } = entry.response;
  const named = headersOf(headers);
  const type = named['content-type'] ?? content.mimeType ?? null;
  if (entry._chunks !== undefined) return { chunks: entry._chunks };
  const bytes = harBody(content, named['content-encoding']);
  if (/^text\/event-stream/i.test(type ?? '')) return { chunks: eventsOf(bytes.toString('utf8')) };
  const body = tapeBody(bytes, type);
  return body ? { body } : {};
}

/** A HAR file does not tell when each event came: one chunk each, without delay. */
function eventsOf(text: string): TapeChunk[] {
  return text.split(/(?<=\r?\n\r?\n)/).map((data) => ({ delayMs: 0, data }));
}

function headersOf(pairs: readonly { name: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name.toLowerCase(), value]));
}
