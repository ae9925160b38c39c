import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from './app-error.ts';

/** A repetition that is about to come. */
export interface Retry<Fault = AppError> {
  /** Which one, from 1. */
  attempt: number;
  /** Until it comes. */
  waitMs: number;
  /** What it comes after. */
  error: Fault;
}

export interface RetryOptions {
  /** 3 unless given. */
  maxRetries?: number | undefined;
  /** Before the first repetition where the service asks for none; then twice as long each time. */
  firstWaitMs?: number | ((error: AppError) => number) | undefined;
  /** How long such a wait becomes at most. */
  longestBackoffMs?: number | undefined;
  /** Whoever is asked to wait longer than this is told so at once. */
  longestWaitMs?: number | undefined;
  /** Called before each wait. */
  onRetry?: ((retry: Retry) => void) | undefined;
  /** Of the runtime: rejects when the signal is raised. */
  sleep?: ((ms: number, signal: AbortSignal | undefined) => Promise<unknown>) | undefined;
  /** Of the runtime, in 0..1. */
  random?: (() => number) | undefined;
  signal?: AbortSignal | undefined;
}

interface Retries {
  /**
   * Waits until it is time to try again after a fault of the moment: as long as the service asks, or else between
   * half and all of a wait that doubles. False when there is no point. Throws the signal's reason when it is raised.
   */
  waitAfter(error: AppError): Promise<boolean>;
}

export function startRetries(options: RetryOptions = {}): Retries {
  const { maxRetries = 3, firstWaitMs = 500, longestBackoffMs = Number.POSITIVE_INFINITY } = options;
  const { longestWaitMs = 120_000, onRetry, random = Math.random, signal } = options;
  const sleep = options.sleep ?? ((ms, given) => delay(ms, undefined, given && { signal: given }));
  let attempt = 1;

  function backoff(error: AppError): number {
    const first = typeof firstWaitMs === 'number' ? firstWaitMs : firstWaitMs(error);
    return Math.min(longestBackoffMs, first * 2 ** (attempt - 1)) * (0.5 + random() / 2);
  }

  return {
    async waitAfter(error) {
      signal?.throwIfAborted();
      if (!error.recoverable || attempt > maxRetries) return false;
      const waitMs = error.retryAfter === undefined ? backoff(error) : error.retryAfter * 1000;
      if (waitMs > longestWaitMs) return false;
      onRetry?.({ attempt, waitMs, error });
      attempt += 1;
      await sleep(waitMs, signal).catch((fault: unknown) => {
        signal?.throwIfAborted();
        throw fault;
      });
      signal?.throwIfAborted();
      return true;
    },
  };
}

/** Tries until it succeeds or there is no point any more. Throws the last fault, or the signal's reason. */
export async function retrying<T>(attemptOnce: () => Promise<T>, options: RetryOptions): Promise<T> {
  const retries = startRetries(options);
  for (;;) {
    options.signal?.throwIfAborted();
    try {
      return await attemptOnce();
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof AppError && (await retries.waitAfter(error)))) throw error;
    }
  }
}

/** What a person reads of it while it is waited for. */
export function retryNotice({ attempt, waitMs, error }: Retry<{ message: string }>): string {
  const seconds = Math.ceil(waitMs / 1000);
  return `${error.message} Trying again ${seconds > 0 ? `in ${seconds} s` : 'now'} (${attempt}).`;
}
