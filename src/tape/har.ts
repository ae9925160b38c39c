import * as z from 'zod';
import { parseOrThrow } from '../faults/parse-or-throw.ts';
import type { Redactor } from '../faults/redactor.ts';
import type { Tape } from './read-tape.ts';
import { joinStreamChunks } from './redact/redact-chunks.ts';
import { redactExchange } from './redact/redact-exchange.ts';
import {
  TAPE_VERSION,
  type TapeBody,
  type TapeExchange,
  type TapeHeader,
  type TapeJson,
  tapeChunkSchema,
  tapeFailureSchema,
  tapeHeaderSchema,
} from './tape-format.ts';
import { toBodyContent, toTapeBody } from './tape-http.ts';

const headerListSchema = z.array(z.object({ name: z.string(), value: z.string() })).default([]);

const entrySchema = z.object({
  startedDateTime: z.string().optional(),
  time: z.number().nullish(),
  request: z.object({
    method: z.string(),
    url: z.string(),
    headers: headerListSchema,
    postData: z
      .object({
        mimeType: z.string().default(''),
        text: z.string().optional(),
        encoding: z.string().optional(),
        params: z.array(z.object({ name: z.string(), value: z.string().default('') })).optional(),
      })
      .nullish(),
  }),
  response: z.object({
    status: z.number(),
    headers: headerListSchema,
    content: z
      .object({ mimeType: z.string().nullish(), text: z.string().nullish(), encoding: z.string().nullish() })
      .default({}),
    /** Chrome's error of a failed request. */
    _error: z.string().nullish(),
  }),
  _chunks: z.array(tapeChunkSchema).optional(),
  _failure: tapeFailureSchema.optional(),
});
type HarEntry = z.infer<typeof entrySchema>;

/** The part of HTTP Archive 1.2 that a tape needs. `_tape`, `_chunks` and `_failure` are our extensions. */
const harSchema = z.object({
  log: z.object({
    creator: z
      .object({ name: z.string().default('unknown'), version: z.string().default('unknown') })
      .prefault({}),
    _tape: z.object({ header: z.unknown(), outputs: z.unknown() }).optional(),
    entries: z.array(entrySchema),
  }),
});

/**
 * Reads a HAR file of a browser or of `toHar`, without redaction. The entries in `left`, a sentence each, cannot be
 * imported. Throws `invalid_input`.
 */
export function parseHar(document: unknown, path: string) {
  const { log } = parseOrThrow(harSchema, document, `The HAR file ${path}`);
  const left: string[] = [];
  const entries = log.entries.filter(({ request: { url } }, index) => {
    const isHttp = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    if (!isHttp) left.push(`Entry ${index + 1}: its address is not an HTTP URL.`);
    return isHttp;
  });
  const times = entries.map(({ startedDateTime = '' }) => Date.parse(startedDateTime));
  const begin = Math.min(...times.filter((time) => !Number.isNaN(time)));
  const began = Number.isFinite(begin) ? begin : 0;
  const exchanges = entries.map(
    (entry, index): TapeExchange => ({
      id: index + 1,
      startedAtMs: Math.max(0, (times[index] || began) - began),
      durationMs: Math.max(0, entry.time ?? 0),
      ...toExchange(entry),
    }),
  );
  const imported: TapeHeader = {
    version: TAPE_VERSION,
    origin: 'recorded',
    note: 'Imported from a HAR file.',
    madeBy: { program: log.creator.name, version: log.creator.version },
    createdAt: new Date(began).toISOString(),
    seed: 'har',
    model: null,
    command: null,
    inputs: {},
    redact: [],
  };
  return {
    exchanges,
    outputs: (log._tape?.outputs ?? null) as TapeJson,
    header: tapeHeaderSchema.safeParse(log._tape?.header).data ?? imported,
    left,
  };
}

function toExchange(entry: HarEntry): Pick<TapeExchange, 'request' | 'response' | 'failure'> {
  const { request, response } = entry;
  const tapeRequest = {
    method: request.method.toUpperCase(),
    url: new URL(request.url).href,
    headers: toHeaders(request.headers),
    ...requestBody(entry),
  };
  if (response.status >= 200) {
    const { status } = response;
    return {
      request: tapeRequest,
      response: { status, headers: toHeaders(response.headers), ...responseBody(entry) },
      ...(entry._failure && { failure: entry._failure }),
    };
  }
  const code = response._error?.replace(/^net::ERR_/, '');
  const failure = { name: 'TypeError', message: 'fetch failed', ...(code && { code }) };
  return { request: tapeRequest, failure: entry._failure ?? failure };
}

function requestBody({ request: { postData, headers } }: HarEntry): Pick<TapeExchange['request'], 'body'> {
  if (!postData) return {};
  const type = postData.mimeType || (toHeaders(headers)['content-type'] ?? null);
  const fields = (postData.params ?? []).map(({ name, value }): [string, string] => [name, value]);
  const text = postData.text ?? new URLSearchParams(fields).toString();
  const body = toTapeBody(Buffer.from(text, postData.encoding === 'base64' ? 'base64' : 'utf8'), type);
  return body ? { body } : {};
}

function responseBody(entry: HarEntry): Pick<NonNullable<TapeExchange['response']>, 'body' | 'chunks'> {
  if (entry._chunks !== undefined) return { chunks: entry._chunks };
  const { content, headers } = entry.response;
  const type = toHeaders(headers)['content-type'] ?? content.mimeType ?? null;
  const bytes = Buffer.from(content.text ?? '', content.encoding === 'base64' ? 'base64' : 'utf8');
  if (/^text\/event-stream/i.test(type ?? '')) {
    // HAR has no arrival times, so each event becomes a chunk without delay.
    const events = bytes.toString('utf8').split(/(?<=\r?\n\r?\n)/);
    return { chunks: events.map((data) => ({ delayMs: 0, data })) };
  }
  const body = toTapeBody(bytes, type);
  return body ? { body } : {};
}

function toHeaders(pairs: readonly { name: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name.toLowerCase(), value]));
}

/** A tape as HTTP Archive 1.2, redacted once more. */
export function toHar(tape: Pick<Tape, 'header' | 'outputs' | 'exchanges'>, redactor: Redactor): object {
  const header = { ...redactor.value(tape.header), redact: tape.header.redact };
  const began = Date.parse(header.createdAt);
  return {
    log: {
      version: '1.2',
      creator: { name: header.madeBy.program, version: header.madeBy.version },
      pages: [],
      entries: tape.exchanges.map((exchange) => toEntry(redactExchange(exchange, redactor), began)),
      _tape: { header, outputs: redactor.value(tape.outputs ?? null) },
    },
  };
}

function toEntry({ request, response, failure, ...timing }: TapeExchange, began: number): object {
  const { startedAtMs, durationMs } = timing;
  const unused = { httpVersion: 'HTTP/1.1', cookies: [], headersSize: -1, bodySize: -1 };
  const text = response?.chunks ? { text: joinStreamChunks(response.chunks) } : toText(response?.body);
  return {
    startedDateTime: new Date(began + startedAtMs).toISOString(),
    time: durationMs,
    request: {
      ...unused,
      method: request.method,
      url: request.url,
      headers: toPairs(Object.entries(request.headers)),
      queryString: toPairs(new URL(request.url).searchParams),
      ...(request.body && {
        postData: { mimeType: request.headers['content-type'] ?? '', ...toText(request.body) },
      }),
    },
    response: {
      ...unused,
      status: response?.status ?? 0,
      statusText: '',
      headers: toPairs(Object.entries(response?.headers ?? {})),
      content: {
        size: text.text?.length ?? 0,
        mimeType: response?.headers['content-type'] ?? '',
        ...text,
      },
      redirectURL: '',
    },
    cache: {},
    timings: { send: 0, wait: durationMs, receive: 0 },
    ...(response?.chunks && { _chunks: response.chunks }),
    ...(failure && { _failure: failure }),
  };
}

function toText(body: TapeBody | undefined): { text?: string; encoding?: string } {
  if (body === undefined) return {};
  return 'base64' in body
    ? { text: body.base64, encoding: 'base64' }
    : { text: toBodyContent(body).toString() };
}

function toPairs(entries: Iterable<[string, string]>): { name: string; value: string }[] {
  return Array.from(entries, ([name, value]) => ({ name, value }));
}
