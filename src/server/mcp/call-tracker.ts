import { setTimeout as delay, setImmediate as nextRound } from 'node:timers/promises';
import { AppError } from '../../faults/app-error.ts';

/** For calls that are told to end, to do so and say so. */
const END_MS = 500;

export interface CallTracker {
  /** Raised with an AppError when calls that still run have to end. */
  readonly signal: AbortSignal;
  /** Runs a call and counts it while it runs. Throws `rate_limit` when there are too many, or the end is near. */
  track<T>(call: () => Promise<T>): Promise<T>;
  /** Takes no more calls, waits for those that run, no longer than `ms`, and tells the others to end. */
  drain(ms: number): Promise<void>;
}

/** Bounds the calls that run at the same time in one process, whoever makes them. */
export function createCallTracker(limit: number): CallTracker {
  const running = new Set<Promise<unknown>>();
  const ending = new AbortController();
  let draining = false;
  return {
    signal: ending.signal,
    async track(call) {
      if (draining) throw stopping();
      if (running.size >= limit) {
        throw new AppError('rate_limit', `${limit} calls are running already.`, { retryAfter: 1 });
      }
      const answered = call();
      const settled = answered.catch(() => {}).finally(() => running.delete(settled));
      running.add(settled);
      return answered;
    },
    async drain(ms) {
      // What has arrived just now is on its way to being counted, and what has ended on its way out.
      await nextRound();
      draining = true;
      await settledWithin(ms);
      ending.abort(stopping());
      await settledWithin(END_MS);
      await nextRound();
    },
  };

  async function settledWithin(ms: number): Promise<void> {
    const timer = new AbortController();
    const tooLong = delay(ms, undefined, { signal: timer.signal }).catch(() => {});
    await Promise.race([Promise.all(running), tooLong]);
    timer.abort();
  }
}

function stopping(): AppError {
  return new AppError('interrupted', 'The server is stopping.');
}
