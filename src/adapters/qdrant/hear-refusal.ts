import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { retryAfterOf } from '../../domain/retry-after.ts';

const CHANNEL = 'undici:request:headers';

/** That a server was too busy or failed. */
export interface Refusal {
  status: number;
  /** Seconds to wait, if it said so. */
  retryAfter: number | undefined;
}

/**
 * Listens for a 429 or 5xx of a server while a request is under way, since the client hides what came with it:
 * of `Retry-After` it keeps the first digit, so that 30 seconds become 3, and of a 503 with a text in place of
 * JSON nothing but the text that it could not read.
 */
export function hearRefusal({ origin }: { origin: string }): { last(): Refusal | null; stop(): void } {
  const watched = new URL(origin).origin;
  let heard: Refusal | null = null;

  function listen(message: unknown): void {
    const { request, response } = message as {
      request: { origin: string | URL };
      response: { statusCode: number; headers: Buffer[] };
    };
    const { statusCode: status } = response;
    if ((status !== 429 && status < 500) || new URL(request.origin).origin !== watched) return;
    heard = { status, retryAfter: retryAfterOf(headersOf(response.headers.map(String))) };
  }

  subscribe(CHANNEL, listen);
  return { last: () => heard, stop: () => void unsubscribe(CHANNEL, listen) };
}

/** Names and values alternate on the wire. */
function headersOf(pairs: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < pairs.length; at += 2) headers.append(pairs[at] ?? '', pairs[at + 1] ?? '');
  return headers;
}
