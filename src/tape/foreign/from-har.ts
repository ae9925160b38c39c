import * as z from 'zod';
import { validated } from '../../faults/validated.ts';
import { tapeBody, textBody } from '../tape-exchange.ts';
import {
  chunkSchema,
  failureSchema,
  headerSchema,
  type TapeExchange,
  type TapeJson,
} from '../tape-format.ts';
import { answerBody, decompressed } from './foreign-body.ts';
import { addressOf, exchangesOf, type ForeignRecording, foreignHeader } from './foreign-recording.ts';

const pairs = z.array(z.object({ name: z.string(), value: z.string() })).default([]);

/** As much of HTTP Archive 1.2 as a tape needs. Fields that begin with `_` are ours, or Polly's. */
const harSchema = z.object({
  log: z.object({
    creator: z
      .object({ name: z.string().default('unknown'), version: z.string().default('unknown') })
      .default({ name: 'unknown', version: 'unknown' }),
    _recordingName: z.string().optional(),
    /** The header and the outputs of the tape that it was made from. */
    _tape: z.object({ header: z.unknown(), outputs: z.unknown() }).optional(),
    entries: z.array(
      z.object({
        startedDateTime: z.string().optional(),
        time: z.number().nullish(),
        request: z.object({
          method: z.string(),
          url: z.string(),
          headers: pairs,
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
          headers: pairs,
          content: z
            .object({
              mimeType: z.string().nullish(),
              text: z.string().nullish(),
              encoding: z.string().nullish(),
            })
            .default({}),
          /** What Chrome says of a request that failed. */
          _error: z.string().nullish(),
        }),
        _chunks: z.array(chunkSchema).optional(),
        _failure: failureSchema.optional(),
      }),
    ),
  }),
});
type HarEntry = z.infer<typeof harSchema>['log']['entries'][number];

/** A HAR file of a browser, of Polly or of our own as a tape, not yet redacted. Throws `invalid_input`. */
export function fromHar(document: unknown, path: string): ForeignRecording {
  const { log } = validated(harSchema, document, `The HAR file ${path}`);
  const left: string[] = [];
  const { began, exchanges } = exchangesOf(
    log.entries.flatMap((entry, index) => {
      const url = addressOf(entry.request.url);
      if (url === null) left.push(`Entry ${index + 1}: its address is not one of HTTP.`);
      const at = Date.parse(entry.startedDateTime ?? '');
      return url === null ? [] : [{ at, durationMs: entry.time ?? 0, ...exchangeOf(entry) }];
    }),
  );
  const ours = headerSchema.safeParse(log._tape?.header);
  const madeBy = { program: log.creator.name, version: log.creator.version };
  const recording = log._recordingName === undefined ? '' : ` of the recording "${log._recordingName}"`;
  return {
    exchanges,
    outputs: (log._tape?.outputs ?? null) as TapeJson,
    header: ours.data ?? foreignHeader(`Imported from a HAR file${recording}.`, madeBy, began, 'har'),
    left,
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
  const type = named['content-type'] ?? content.mimeType ?? undefined;
  if (entry._chunks !== undefined) return { chunks: entry._chunks };
  const bytes = harBody(content, named['content-encoding']);
  return answerBody(bytes, type);
}

function headersOf(pairs: readonly { name: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name.toLowerCase(), value]));
}

/**
 * The bytes of an answer. Browsers keep the body as it was read; Polly keeps a compressed one as it came, as a list
 * of pieces in base64 or hex.
 */
function harBody(
  { text, encoding }: HarEntry['response']['content'],
  contentEncoding: string | undefined,
): Buffer {
  if (text === undefined || text === null) return Buffer.alloc(0);
  if (encoding !== 'base64' && encoding !== 'hex')
    return fromPieces(text, contentEncoding) ?? Buffer.from(text);
  const pieces = piecesOf(text);
  const bytes = Buffer.concat((pieces ?? [text]).map((piece) => Buffer.from(piece, encoding)));
  return decompressed(bytes, contentEncoding);
}

/** Older versions of Polly say nothing of how a compressed body is spelled. */
function fromPieces(text: string, contentEncoding: string | undefined): Buffer | null {
  const pieces = contentEncoding === undefined ? null : piecesOf(text);
  if (pieces === null || !pieces.every((piece) => /^[0-9a-f]+$/i.test(piece))) return null;
  return decompressed(Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'hex'))), contentEncoding);
}

function piecesOf(text: string): string[] | null {
  if (!text.startsWith('["')) return null;
  try {
    const pieces: unknown = JSON.parse(text);
    return Array.isArray(pieces) && pieces.every((piece) => typeof piece === 'string') ? pieces : null;
  } catch {
    return null;
  }
}
