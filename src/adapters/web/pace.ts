import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until at least `seconds` have passed since the start of the call before; callers queue up. Throws the signal's reason. */
export type Pace = (seconds: number, signal?: AbortSignal) => Promise<void>;

export function createPace(): Pace {
  let next = 0;
  return async (seconds, signal) => {
    const now = performance.now();
    const turn = Math.max(now, next);
    next = turn + seconds * 1000;
    if (turn > now) await sleep(turn - now, undefined, signal && { signal }).catch(() => {});
    signal?.throwIfAborted();
  };
}
