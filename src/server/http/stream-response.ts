import { setTimeout as delay } from 'node:timers/promises';

/** What keeps a silent connection open: a line that readers skip. */
const KEEP_ALIVE = { 'text/event-stream': ': still here\n\n', 'application/x-ndjson': '\n' } as const;
const KEEP_ALIVE_MS = 15_000;

interface StreamOptions {
  contentType: keyof typeof KEEP_ALIVE;
  /** The last piece when making the others failed. */
  onFailure: (error: unknown) => string;
  /** Called once when the client stops reading before the end. */
  onCancel: () => void;
  keepAliveMs?: number;
}

/** A response whose body is made piece by piece, no faster than the client reads. */
export function streamResponse(pieces: AsyncIterable<string>, options: StreamOptions): Response {
  const { contentType, onFailure, onCancel, keepAliveMs = KEEP_ALIVE_MS } = options;
  const iterator = pieces[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const keepAlive = encoder.encode(KEEP_ALIVE[contentType]);
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(keepAlive);
      }, keepAliveMs).unref();
    },
    async pull(controller) {
      let last: string | undefined;
      try {
        const { done, value } = await iterator.next();
        if (!done) return controller.enqueue(encoder.encode(value));
      } catch (error) {
        last = onFailure(error);
      }
      clearInterval(timer);
      if (last !== undefined) controller.enqueue(encoder.encode(last));
      controller.close();
    },
    async cancel() {
      clearInterval(timer);
      onCancel();
      // Whoever makes the pieces is told by `onCancel`; what it ends with concerns nobody any more.
      await iterator.return?.(undefined).catch(() => {});
    },
  });
  return new Response(body, {
    headers: {
      'content-type': `${contentType}; charset=utf-8`,
      'cache-control': 'no-store',
      // Proxies that collect a response before they pass it on would make the stream pointless.
      'x-accel-buffering': 'no',
    },
  });
}

/**
 * Waits for the first item, so that what fails before it can still be answered with an HTTP status, but no
 * longer than `ms`. Throws what the first item failed with.
 */
export async function begunWithin<T>(items: AsyncIterable<T>, ms: number): Promise<AsyncIterable<T>> {
  const iterator = items[Symbol.asyncIterator]();
  const first = iterator.next();
  const timer = new AbortController();
  try {
    await Promise.race([first, delay(ms, undefined, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
  let unread: Promise<IteratorResult<T>> | undefined = first;
  const resumed: AsyncIterator<T> = {
    next() {
      const item = unread ?? iterator.next();
      unread = undefined;
      return item;
    },
    return: (value) => iterator.return?.(value) ?? Promise.resolve({ done: true, value }),
  };
  return { [Symbol.asyncIterator]: () => resumed };
}
