import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../domain/app-error.ts';

const FIRST_WAIT_MS = 500;
/** Limits are counted by the minute: after half a second nothing would have changed. */
const FIRST_WAIT_FOR_RATE_MS = 4000;

export interface Retry {
  /** Which repetition is about to come, from 1. */
  attempt: number;
  waitMs: number;
  error: AppError;
}

export interface RetryOptions {
  maxRetries?: number | undefined;
  /** Whoever is asked to wait longer than this is told so at once. */
  longestWaitMs?: number | undefined;
  /** Called before each wait. */
  onRetry?: ((retry: Retry) => void) | undefined;
  /** Rejects when the signal is raised. */
  sleep?: ((ms: number, signal: AbortSignal | undefined) => Promise<unknown>) | undefined;
  random?: (() => number) | undefined;
}

/**
 * Tries again after faults of the moment, waiting twice as long each time, or as long as the service asks.
 * Throws the last fault, or the signal's reason when it is raised.
 */
export async function retrying<T>(
  attemptOnce: () => Promise<T>,
  options: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { maxRetries = 3, longestWaitMs = 120_000, onRetry, random = Math.random } = options;
  const sleep = options.sleep ?? ((ms) => delay(ms, undefined, { ...(signal !== undefined && { signal }) }));
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await attemptOnce();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof AppError) || !error.recoverable || attempt > maxRetries) throw error;
      const waitMs = waitBefore(attempt, error, random());
      if (waitMs > longestWaitMs) throw error;
      onRetry?.({ attempt, waitMs, error });
      await sleep(waitMs, signal).catch((fault: unknown) => {
        signal?.throwIfAborted();
        throw fault;
      });
    }
  }
}

/** As the service asks, or else between half and all of a wait that doubles. */
function waitBefore(attempt: number, { kind, retryAfter }: AppError, random: number): number {
  if (retryAfter !== undefined) return retryAfter * 1000;
  const first = kind === 'rate_limit' ? FIRST_WAIT_FOR_RATE_MS : FIRST_WAIT_MS;
  return first * 2 ** (attempt - 1) * (0.5 + random / 2);
}
