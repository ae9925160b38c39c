import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { retryAfterOf } from '../web/retry-after.ts';

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
    const headers = response.headers.map(String);
    const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'retry-after');
    const retryAfter = retryAfterOf({ get: () => (at < 0 ? null : (headers[at + 1] ?? null)) });
    heard = { status, retryAfter };
  }

  subscribe(CHANNEL, listen);
  return { last: () => heard, stop: () => void unsubscribe(CHANNEL, listen) };
}
