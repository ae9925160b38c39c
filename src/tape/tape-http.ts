import { setTimeout as delay } from 'node:timers/promises';
import { errorCauses, getField } from '../faults/network-errors.ts';
import { parseJson } from '../text/parse-json.ts';
import { restoreFilePaths } from './redact/file-paths.ts';
import type { TapeBody, TapeExchange, TapeFailure, TapeJson, TapeRequest } from './tape-format.ts';

/** Whether a replay waits as long as the recorded run did. */
export type ReplayTiming = 'none' | 'recorded';

/** Undefined for a text that is not JSON, or with integers that JSON.parse would round. */
export function tryParseExactJson(text: string): TapeJson | undefined {
  return /(?:^|[:[,])\s*-?\d{17,}\s*(?:[,\]}]|$)/.test(text) ? undefined : parseJson<TapeJson>(text);
}

/** Consumes the body. */
export async function toTapeRequest(request: Request): Promise<TapeRequest> {
  const body = toTapeBody(await request.bytes(), request.headers.get('content-type'));
  return {
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(request.headers),
    ...(body && { body }),
  };
}

/** Undefined for an empty body. */
export function toTapeBody(bytes: Uint8Array, contentType: string | null): TapeBody | undefined {
  if (bytes.length === 0) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return parseTapeBody(text, contentType);
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') };
  }
}

export function parseTapeBody(text: string, contentType: string | null): TapeBody {
  if (!/json/i.test(contentType ?? '') && !/^\s*[{[]/.test(text)) return { text };
  const json = tryParseExactJson(text);
  return json === undefined ? { text } : { json };
}

export function toBodyContent(body: TapeBody): string | Buffer {
  if ('json' in body) return JSON.stringify(body.json);
  return 'text' in body ? body.text : Buffer.from(body.base64, 'base64');
}

export function toTapeFailure(error: unknown): TapeFailure {
  const { name = 'Error', message = String(error) } = (error ?? {}) as Partial<Error>;
  const codes = errorCauses(error).map((each) => getField(each, 'code'));
  const code = codes.find((each): each is string => typeof each === 'string' && each !== '');
  return { name, message, ...(code !== undefined && { code }) };
}

/** Recreates the response of an exchange. Throws its failure if it has no response. */
export async function createReplayResponse(
  { response, failure, durationMs }: TapeExchange,
  timing: ReplayTiming,
  signal: AbortSignal | null,
): Promise<Response> {
  const streamedMs = (response?.chunks ?? []).reduce((sum, { delayMs }) => sum + delayMs, 0);
  const wait = async (ms: number) => {
    if (timing === 'recorded' && ms > 0) await delay(ms, undefined, { ...(signal && { signal }) });
  };
  await wait(durationMs - streamedMs).catch(() => signal?.throwIfAborted());
  signal?.throwIfAborted();
  if (response === undefined) throw toFetchError(failure ?? { name: 'TypeError', message: 'fetch failed' });
  const { status, headers, body, chunks } = response;
  const bytes = body === undefined ? null : toBodyContent(body);
  if (chunks === undefined && failure === undefined) {
    const data = typeof bytes === 'string' ? restoreFilePaths(bytes) : bytes && Uint8Array.from(bytes);
    return new Response(data, { status, headers });
  }
  const pieces = chunks ?? (bytes === null ? [] : [{ delayMs: 0, data: bytes }]);
  return new Response(streamPieces(pieces, failure, wait), { status, headers });
}

/** Ends with the failure if there is one. */
function streamPieces(
  pieces: readonly { delayMs: number; data: string | Buffer }[],
  failure: TapeFailure | undefined,
  wait: (ms: number) => Promise<void>,
): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream({
    async pull(controller) {
      const piece = pieces[next];
      next += 1;
      if (piece !== undefined) {
        await wait(piece.delayMs);
        controller.enqueue(Buffer.from(piece.data as string));
      } else if (failure === undefined) controller.close();
      else controller.error(toFetchError(failure));
    },
  });
}

/** The error that `fetch` threw, as far as clients can tell. */
function toFetchError({ name, message, code }: TapeFailure): Error {
  if (name === 'AbortError' || name === 'TimeoutError') return new DOMException(message, name);
  const cause = code === undefined ? undefined : Object.assign(new Error(`${message} (${code})`), { code });
  return new TypeError(message, { cause });
}
