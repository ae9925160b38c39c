import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from './app-error.ts';

/** The next attempt, announced before its wait. */
export interface RetryAttempt<Failure = AppError> {
  /** From 1. */
  attempt: number;
  waitMs: number;
  error: Failure;
}

export interface RetryOptions {
  /** 2 by default: three attempts. */
  maxRetries?: number | undefined;
  /** The first wait, unless the service asks for one; it doubles each time. */
  firstWaitMs?: number | ((error: AppError) => number) | undefined;
  /** The longest such wait. */
  longestBackoffMs?: number | undefined;
  /** There is no retry if the service asks for a longer wait. */
  longestWaitMs?: number | undefined;
  /** Called before each wait. */
  onRetry?: ((retry: RetryAttempt) => void) | undefined;
  /** Rejects when the signal is aborted. */
  sleep?: ((ms: number, signal: AbortSignal | undefined) => Promise<unknown>) | undefined;
  /** In 0..1. */
  random?: (() => number) | undefined;
  signal?: AbortSignal | undefined;
}

export function startRetries(options: RetryOptions = {}) {
  const { maxRetries = 2, firstWaitMs = 500, longestBackoffMs = Number.POSITIVE_INFINITY } = options;
  const { longestWaitMs = 120_000, onRetry, random = Math.random, signal } = options;
  const sleep = options.sleep ?? ((ms, given) => delay(ms, undefined, given && { signal: given }));
  let attempt = 1;

  function backoff(error: AppError): number {
    const first = typeof firstWaitMs === 'number' ? firstWaitMs : firstWaitMs(error);
    return Math.min(longestBackoffMs, first * 2 ** (attempt - 1)) * (0.5 + random() / 2);
  }

  return {
    /**
     * Waits before another attempt: as long as the service asks, or 50 to 100 % of the backoff. Returns false without
     * waiting if the error is not recoverable or no attempt is left. Throws the signal's reason when it is aborted.
     */
    async waitAfter(error: AppError): Promise<boolean> {
      signal?.throwIfAborted();
      if (!error.recoverable || attempt > maxRetries) return false;
      const waitMs = error.retryAfter === undefined ? backoff(error) : error.retryAfter * 1000;
      if (waitMs > longestWaitMs) return false;
      onRetry?.({ attempt, waitMs, error });
      attempt += 1;
      await sleep(waitMs, signal).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw error;
      });
      signal?.throwIfAborted();
      return true;
    },
  };
}

/** Repeats an attempt until it succeeds or cannot be retried. Throws the last error, or the signal's reason. */
export async function retryOnError<T>(attemptOnce: () => Promise<T>, options: RetryOptions): Promise<T> {
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

/** The notice for the user during the wait. */
export function formatRetryNotice({ attempt, waitMs, error }: RetryAttempt<{ message: string }>): string {
  const seconds = Math.ceil(waitMs / 1000);
  return `${error.message} Retrying ${seconds > 0 ? `in ${seconds} s` : 'now'} (retry ${attempt}).`;
}

const WAIT_IN_MESSAGE = /(?:try again|retry)[^.\d]{0,20}?((?:\d+(?:\.\d+)?\s*(?:ms|h|m|s)[a-z]*\s*)+)/i;
const DURATION = /(\d+(?:\.\d+)?)\s*(ms|h|m|s)/g;
const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** The seconds that a service asks to wait, from its headers, its body or its message. */
export function parseRetryAfter(headers: unknown, inBody?: unknown, message = ''): number | undefined {
  return (
    fromHeaders(headers) ??
    (typeof inBody === 'number' ? inBody : undefined) ??
    durationOf(WAIT_IN_MESSAGE.exec(message)?.[1] ?? '')
  );
}

function fromHeaders(headers: unknown): number | undefined {
  if (!isHeaders(headers)) return undefined;
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds / 1000;
  const value = headers.get('retry-after')?.trim();
  if (value) return /^\d+(\.\d+)?$/.test(value) ? Number(value) : secondsUntil(Date.parse(value));
  const spent = ['requests', 'tokens'].find((what) => headers.get(`x-ratelimit-remaining-${what}`) === '0');
  return spent === undefined ? undefined : durationOf(headers.get(`x-ratelimit-reset-${spent}`) ?? '');
}

/** `1.5s`, `6m0s` or `20 seconds`, in seconds. */
function durationOf(text: string): number | undefined {
  const parts = Array.from(text.matchAll(DURATION), ([, count, unit]) => {
    return Number(count) * SECONDS[unit as keyof typeof SECONDS];
  });
  return parts.length === 0 ? undefined : parts.reduce((sum, seconds) => sum + seconds);
}

function secondsUntil(time: number): number | undefined {
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - Date.now()) / 1000));
}

/** Accepts the headers of any fetch implementation. */
function isHeaders(value: unknown): value is { get(name: string): string | null } {
  return typeof (value as { get?: unknown } | null | undefined)?.get === 'function';
}
