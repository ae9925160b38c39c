import { setTimeout as delay, setImmediate as nextRound } from 'node:timers/promises';
import { AppError } from '../domain/app-error.ts';

export interface CallTracker {
  /** Runs a call and counts it while it runs. Throws `rate_limit` when there are too many, or the end is near. */
  track<T>(call: () => Promise<T>): Promise<T>;
  /** Takes no more calls and waits for those that run, no longer than `ms`. */
  drain(ms: number): Promise<void>;
}

/** Bounds the calls that run at the same time in one process, whoever makes them. */
export function createCallTracker(limit: number): CallTracker {
  const running = new Set<Promise<unknown>>();
  let draining = false;
  return {
    async track(call) {
      if (draining) throw new AppError('interrupted', 'The server is stopping.');
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
      const timer = new AbortController();
      await Promise.race([
        Promise.all(running),
        delay(ms, undefined, { signal: timer.signal }).catch(() => {}),
      ]);
      timer.abort();
      await nextRound();
    },
  };
}
