import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for the first item, so that what fails before it can still be answered with an HTTP status, but no
 * longer than `ms`. Throws what the first item failed with.
 */
export async function begunWithin<T>(items: AsyncIterable<T>, ms: number): Promise<AsyncGenerator<T>> {
  const iterator = items[Symbol.asyncIterator]();
  const first = iterator.next();
  const timer = new AbortController();
  try {
    await Promise.race([first, delay(ms, undefined, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
  return resumed(iterator, first);
}

async function* resumed<T>(iterator: AsyncIterator<T>, first: Promise<IteratorResult<T>>): AsyncGenerator<T> {
  let item = await first;
  try {
    for (; !item.done; item = await iterator.next()) yield item.value;
  } finally {
    if (!item.done) await iterator.return?.();
  }
}
