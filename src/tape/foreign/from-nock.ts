import * as z from 'zod';
import { tapeBody } from '../tape-exchange.ts';
import type { TapeExchange } from '../tape-format.ts';
import { answerBody, decompressed } from './foreign-body.ts';
import { addressOf, exchangesOf, type ForeignRecording, foreignHeader } from './foreign-recording.ts';

/** What `nock.recorder` and `nock.back` write with `output_objects`. */
const definitionSchema = z.object({
  scope: z.string(),
  method: z
    .string()
    .regex(/^[a-z]+$/i)
    .default('GET'),
  path: z.string(),
  body: z.unknown().optional(),
  status: z.int().min(200).max(599).default(200),
  response: z.unknown().optional(),
  responseIsBinary: z.boolean().default(false),
  rawHeaders: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).optional(),
  headers: z.record(z.string(), z.unknown()).optional(),
  reqheaders: z.record(z.string(), z.unknown()).optional(),
});

export function isNock(document: unknown): document is unknown[] {
  const likely = (each: unknown) =>
    typeof each === 'object' && each !== null && 'scope' in each && 'path' in each;
  return Array.isArray(document) && document.length > 0 && document.every(likely);
}

/** Definitions of nock as a tape, not yet redacted. */
export function fromNock(document: readonly unknown[]): ForeignRecording {
  const left: string[] = [];
  const { began, exchanges } = exchangesOf(
    document.flatMap((each, index) => {
      const exchange = exchangeOf(each);
      if (typeof exchange !== 'string') return [exchange];
      left.push(`Definition ${index + 1}: ${exchange}.`);
      return [];
    }),
  );
  if (exchanges.length > 0)
    left.push('How long answers took, and when the events of streams came: nock does not tell.');
  const header = foreignHeader(
    'Imported from definitions of nock.',
    { program: 'nock', version: 'unknown' },
    began,
    'nock',
  );
  return { header, exchanges, outputs: null, left };
}

/** A sentence for what cannot be carried over. */
function exchangeOf(value: unknown): (Pick<TapeExchange, 'request' | 'response'> & { at: number }) | string {
  const { data, error } = definitionSchema.safeParse(value);
  if (data === undefined) {
    const field = error?.issues[0]?.path.join('.') || 'scope';
    return `its ${field} is a pattern or missing, and a tape has calls that were really made`;
  }
  const url = addressOf(`${data.scope.replace(/\/$/, '')}${data.path}`);
  if (url === null) return 'its address is not one of HTTP';
  const [sent, got] = [headersOf(data.reqheaders), headersOf(data.rawHeaders ?? data.headers)];
  const asked = bytesOf(data.body, false);
  const answered = bytesOf(data.response, data.responseIsBinary);
  const body = tapeBody(asked, sent['content-type'] ?? null);
  return {
    at: Date.parse(got.date ?? ''),
    request: { method: data.method.toUpperCase(), url, headers: sent, ...(body && { body }) },
    response: {
      status: data.status,
      headers: got,
      ...answerBody(decompressed(answered, got['content-encoding']), got['content-type']),
    },
  };
}

/** JSON as its value, bytes in hex, or what came compressed as a list of pieces in hex. */
function bytesOf(body: unknown, isBinary: boolean): Buffer {
  if (body === null || body === undefined) return Buffer.alloc(0);
  if (typeof body === 'string') {
    return isBinary || /^(?:[0-9a-f]{2}){8,}$/.test(body) ? Buffer.from(body, 'hex') : Buffer.from(body);
  }
  const isPieces =
    Array.isArray(body) &&
    body.length > 0 &&
    body.every((each) => typeof each === 'string' && /^(?:[0-9a-f]{2})+$/.test(each));
  if (isPieces) return Buffer.concat(body.map((piece: string) => Buffer.from(piece, 'hex')));
  return Buffer.from(JSON.stringify(body));
}

function headersOf(headers: readonly string[] | Record<string, unknown> | undefined): Record<string, string> {
  const pairs: [string, unknown][] = Array.isArray(headers)
    ? Array.from({ length: Math.floor(headers.length / 2) }, (_, index) => [
        String(headers[index * 2]),
        headers[index * 2 + 1],
      ])
    : Object.entries(headers ?? {});
  return Object.fromEntries(
    pairs.map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : String(value),
    ]),
  );
}
