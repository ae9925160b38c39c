import { advice, setting } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';

/** A limit on the time spent waiting. Time that the caller spends between two waits does not count. */
export interface TimeBudget {
  /** Aborts when the budget is used up, or when the outer signal does. */
  signal: AbortSignal;
  readonly isSpent: boolean;
  /** Waits for work that listens to the signal. */
  wait<T>(work: Promise<T>): Promise<T>;
  /** Ends all work that listens to the signal. */
  stop(): void;
}

/** A budget in seconds, over the time that all waits take together. */
export function createTimeBudget(seconds: number, outer?: AbortSignal): TimeBudget {
  const controller = new AbortController();
  let left = seconds * 1000;
  return {
    signal: outer ? AbortSignal.any([outer, controller.signal]) : controller.signal,
    get isSpent() {
      return controller.signal.aborted;
    },
    stop: () => controller.abort(),
    async wait(work) {
      const begun = performance.now();
      const timer = setTimeout(() => controller.abort(spent(seconds)), Math.max(left, 0));
      try {
        return await work;
      } finally {
        clearTimeout(timer);
        left -= performance.now() - begun;
      }
    },
  };
}

function spent(seconds: number): AppError {
  return new AppError('api_error', `The site did not answer in full within ${seconds} seconds.`, {
    hint: advice`Raise the limit with ${setting('maxSeconds')}.`,
    recoverable: true,
  });
}
