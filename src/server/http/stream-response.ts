import { setTimeout as delay } from 'node:timers/promises';

/** Lines that keep a connection open and that clients skip. */
const KEEP_ALIVE = { 'text/event-stream': ': keep-alive\n\n', 'application/x-ndjson': '\n' } as const;
const KEEP_ALIVE_MS = 15_000;
/** An error within this time becomes an HTTP status; a later one is sent in the stream. */
const STATUS_WAIT_MS = 10_000;

interface StreamOptions {
  contentType: keyof typeof KEEP_ALIVE;
  /** Returns the last piece if the source of pieces failed. */
  onFailure: (error: unknown) => string;
  /** Called once when the client stops reading before the end. */
  onCancel: () => void;
}

/** A response whose body is produced piece by piece, no faster than the client reads. */
export function streamResponse(pieces: AsyncIterable<string>, options: StreamOptions): Response {
  const { contentType, onFailure, onCancel } = options;
  const iterator = pieces[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const keepAlive = encoder.encode(KEEP_ALIVE[contentType]);
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(keepAlive);
      }, KEEP_ALIVE_MS).unref();
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
      // `onCancel` stopped the source; how it ends no longer matters.
      await iterator.return?.(undefined).catch(() => {});
    },
  });
  return new Response(body, {
    headers: {
      'content-type': `${contentType}; charset=utf-8`,
      'cache-control': 'no-store',
      // Keeps proxies from buffering the stream.
      'x-accel-buffering': 'no',
    },
  });
}

/**
 * Waits a while for the first item, so that an error before it can still become an HTTP status. Throws the error of the
 * first item.
 */
export async function waitForFirst<T>(items: AsyncGenerator<T>): Promise<AsyncIterable<T>> {
  const first = items.next();
  await Promise.race([first, delay(STATUS_WAIT_MS, undefined, { ref: false })]);
  return (async function* () {
    for (let item = await first; !item.done; item = await items.next()) yield item.value;
  })();
}
