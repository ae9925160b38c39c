import * as z from 'zod';
import { validated } from '../../faults/validated.ts';
import { tapeBody } from '../tape-exchange.ts';
import type { TapeExchange } from '../tape-format.ts';
import { answerBody, decompressed } from './foreign-body.ts';
import { addressOf, exchangesOf, type ForeignRecording, foreignHeader } from './foreign-recording.ts';

const named = z.record(z.string(), z.unknown());

/** vcrpy, which pytest-recording uses, has `interactions`; the VCR of Ruby has `http_interactions`. */
const cassetteSchema = z.object({
  version: z.unknown().optional(),
  recorded_with: z.string().optional(),
  interactions: z.array(z.unknown()).optional(),
  http_interactions: z.array(z.unknown()).optional(),
});

const interactionSchema = z.object({
  request: z.object({
    method: z.string().regex(/^[a-z]+$/i),
    uri: z.string(),
    headers: named.nullish(),
    body: z.unknown().optional(),
    parsed_body: z.unknown().optional(),
  }),
  response: z.object({
    status: z.union([z.number(), z.object({ code: z.coerce.number() })]).optional(),
    status_code: z.number().optional(),
    headers: named.nullish(),
    body: z.unknown().optional(),
    content: z.unknown().optional(),
    parsed_body: z.unknown().optional(),
  }),
  recorded_at: z.string().optional(),
});
type Interaction = z.infer<typeof interactionSchema>;

/** Whether a document is a cassette at all. */
export function isCassette(document: unknown): boolean {
  const { data } = cassetteSchema.safeParse(document);
  return data?.interactions !== undefined || data?.http_interactions !== undefined;
}

/** A cassette of VCR, of Python or of Ruby, as a tape, not yet redacted. Throws `invalid_input`. */
export function fromVcr(document: unknown, path: string): ForeignRecording {
  const cassette = validated(cassetteSchema, document, `The cassette ${path}`);
  const left: string[] = [];
  const interactions = cassette.interactions ?? cassette.http_interactions ?? [];
  const { began, exchanges } = exchangesOf(
    interactions.flatMap((each, index) => {
      const exchange = exchangeOf(each);
      if (typeof exchange !== 'string') return [exchange];
      left.push(`Interaction ${index + 1}: ${exchange}.`);
      return [];
    }),
  );
  if (exchanges.length > 0)
    left.push('How long answers took, and when the events of streams came: cassettes do not tell.');
  const [program = 'VCR', version = 'unknown'] = cassette.recorded_with?.split(' ') ?? ['vcrpy'];
  const note = 'Imported from a cassette of VCR.';
  return { header: foreignHeader(note, { program, version }, began, 'vcr'), exchanges, outputs: null, left };
}

/** A sentence for what cannot be carried over. */
function exchangeOf(value: unknown) {
  const { data, error } = interactionSchema.safeParse(value);
  if (data === undefined)
    return `it has no ${error?.issues[0]?.path.join('.') || 'request and response'} that can be read`;
  const { request, response } = data;
  const url = addressOf(request.uri);
  if (url === null) return 'its address is not one of HTTP';
  const status = statusOf(response);
  if (status === null) return 'its answer has no status of HTTP';
  const asked = bytesOf(request.parsed_body ?? request.body, request.parsed_body !== undefined);
  const answered = bytesOf(
    response.parsed_body ?? response.content ?? response.body,
    response.parsed_body !== undefined,
  );
  if (asked === null || answered === null) return 'its body is an object of Python, not text or bytes';
  const [sent, got] = [headersOf(request.headers), headersOf(response.headers)];
  const body = tapeBody(asked, sent['content-type'] ?? null);
  const recorded: TapeExchange['response'] = {
    status,
    headers: got,
    ...answerBody(decompressed(answered, got['content-encoding']), got['content-type']),
  };
  const at = Date.parse(data.recorded_at ?? got.date ?? '');
  const method = request.method.toUpperCase();
  return { at, request: { method, url, headers: sent, ...(body && { body }) }, response: recorded };
}

function statusOf({ status, status_code }: Interaction['response']): number | null {
  const code = typeof status === 'object' ? status.code : (status ?? status_code);
  return code !== undefined && Number.isInteger(code) && code >= 200 && code <= 599 ? code : null;
}

/** A text, bytes, or the one that holds them; null for what is neither. */
function bytesOf(body: unknown, isParsed: boolean): Buffer | null {
  if (body === null || body === undefined) return Buffer.alloc(0);
  if (typeof body === 'string' && !isParsed) return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body);
  if (isParsed) return Buffer.from(JSON.stringify(body));
  if (typeof body !== 'object') return null;
  const { string, base64_string: base64 } = body as { string?: unknown; base64_string?: unknown };
  if (typeof base64 === 'string') return Buffer.from(base64, 'base64');
  return string === undefined ||
    (typeof string === 'object' && !(string instanceof Uint8Array) && string !== null)
    ? null
    : bytesOf(string, false);
}

function headersOf(headers: Record<string, unknown> | null | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.map(String).join(', ') : String(value),
    ]),
  );
}
