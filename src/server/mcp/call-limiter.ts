import { setTimeout as delay, setImmediate as nextRound } from 'node:timers/promises';
import { AppError } from '../../faults/app-error.ts';

/** Time for aborted calls to end and respond. */
const ABORT_MS = 500;

export interface CallLimiter {
  /** Aborts with an AppError when running calls must end. */
  readonly signal: AbortSignal;
  /** Runs a call. Throws `rate_limit` over the limit and `interrupted` while draining. */
  track<T>(call: () => Promise<T>): Promise<T>;
  /** Refuses new calls, waits up to `ms` for running ones, then aborts the rest. */
  drain(ms: number): Promise<void>;
}

/** Limits the calls that run at the same time in this process. */
export function createCallLimiter(limit: number): CallLimiter {
  const running = new Set<Promise<unknown>>();
  const ending = new AbortController();
  let draining = false;
  return {
    signal: ending.signal,
    async track(call) {
      if (draining) throw stoppingError();
      if (running.size >= limit) {
        throw new AppError('rate_limit', `${limit} calls are already running.`, { retryAfter: 1 });
      }
      const result = call();
      const settled = result.catch(() => {}).finally(() => running.delete(settled));
      running.add(settled);
      return result;
    },
    async drain(ms) {
      // Lets calls that have just arrived be counted, and responses that are ready be sent.
      await nextRound();
      draining = true;
      await settledWithin(ms);
      ending.abort(stoppingError());
      await settledWithin(ABORT_MS);
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

function stoppingError(): AppError {
  return new AppError('interrupted', 'The server is stopping.');
}
