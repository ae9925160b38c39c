import { setTimeout as delay } from 'node:timers/promises';
import { withFilePlaces } from './redact/file-places.ts';
import type {
  TapeBody,
  TapeExchange,
  TapeFailure,
  TapeJson,
  TapeRequest,
  TapeResponse,
} from './tape-format.ts';

/** Whether a replay waits as long as the recorded run did. */
export type Timing = 'none' | 'recorded';

/** Integers that JSON.parse would round. */
export const LARGE_INTEGER = /(?:^|[:[,])\s*-?\d{17,}\s*(?:[,\]}]|$)/;

/** Consumes the body. */
export async function toTapeRequest(request: Request): Promise<TapeRequest> {
  const body = tapeBody(await request.bytes(), request.headers.get('content-type'));
  return {
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(request.headers),
    ...(body && { body }),
  };
}

/** The answer of an exchange as `fetch` gave it. Throws the error that it threw if there was none. */
export async function replayResponse(
  { response, failure, durationMs }: TapeExchange,
  timing: Timing,
  signal: AbortSignal | null,
): Promise<Response> {
  const streamedMs = (response?.chunks ?? []).reduce((sum, { delayMs }) => sum + delayMs, 0);
  const wait = async (ms: number) => {
    if (timing === 'recorded' && ms > 0) await delay(ms, undefined, { ...(signal && { signal }) });
  };
  await wait(durationMs - streamedMs).catch(() => signal?.throwIfAborted());
  signal?.throwIfAborted();
  if (response === undefined) throw errorOf(failure ?? { name: 'TypeError', message: 'fetch failed' });
  const { status, headers } = response;
  return new Response(bodyOf(response, failure, wait), { status, headers });
}

function bodyOf(
  { body, chunks }: TapeResponse,
  failure: TapeExchange['failure'],
  wait: (ms: number) => Promise<void>,
): string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null {
  if (chunks === undefined && failure === undefined) {
    if (body === undefined) return null;
    const bytes = bodyBytes(body);
    return typeof bytes === 'string' ? withFilePlaces(bytes) : Uint8Array.from(bytes);
  }
  const whole = body === undefined ? [] : [{ delayMs: 0, data: bodyBytes(body) }];
  const pieces: { delayMs: number; data: string | Buffer }[] = chunks ?? whole;
  let next = 0;
  return new ReadableStream({
    async pull(controller) {
      const piece = pieces[next];
      next += 1;
      if (piece !== undefined) {
        await wait(piece.delayMs);
        controller.enqueue(Buffer.from(piece.data as string));
      } else if (failure === undefined) controller.close();
      else controller.error(errorOf(failure));
    },
  });
}

/** Bytes in the form that is easiest to read; undefined if there are none. */
export function tapeBody(bytes: Uint8Array, contentType: string | null): TapeBody | undefined {
  if (bytes.length === 0) return undefined;
  const text = asText(bytes);
  return text === null ? { base64: Buffer.from(bytes).toString('base64') } : textBody(text, contentType);
}

export function textBody(text: string, contentType: string | null): TapeBody {
  if (!/json/i.test(contentType ?? '') && !/^\s*[{[]/.test(text)) return { text };
  try {
    if (!LARGE_INTEGER.test(text)) return { json: JSON.parse(text) as TapeJson };
  } catch {
    // A text, whatever its type says.
  }
  return { text };
}

export function bodyBytes(body: TapeBody): string | Buffer {
  if ('json' in body) return JSON.stringify(body.json);
  return 'text' in body ? body.text : Buffer.from(body.base64, 'base64');
}

function asText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** What a failed call of `fetch` says of itself. */
export function tapeFailure(error: unknown): TapeFailure {
  const { name = 'Error', message = String(error) } = (error ?? {}) as Partial<Error>;
  const code = codeOf(error);
  return { name, message, ...(code !== undefined && { code }) };
}

/** The error that `fetch` threw when the failure was recorded, as far as clients can tell. */
function errorOf({ name, message, code }: TapeFailure): Error {
  if (name === 'AbortError' || name === 'TimeoutError') return new DOMException(message, name);
  const cause = code === undefined ? undefined : Object.assign(new Error(`${message} (${code})`), { code });
  return new TypeError(message, { cause });
}

/** The code of the error or of what caused it; bounded, since causes may form a circle. */
function codeOf(error: unknown): string | undefined {
  let each = error;
  for (let depth = 0; depth < 8 && each instanceof Error; depth += 1) {
    const { code } = each as { code?: unknown };
    if (typeof code === 'string' && code !== '') return code;
    each = each instanceof AggregateError && each.cause === undefined ? each.errors[0] : each.cause;
  }
  return undefined;
}
