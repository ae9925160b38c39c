import { setTimeout as delay } from 'node:timers/promises';
import type { Model, ModelRequest, StreamEvent } from '@openai/agents-core';
import type { AppError } from '../../domain/app-error.ts';
import { type FaultContext, toAppError } from './to-app-error.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_BACKOFF_MS = 8000;
/** Whoever is asked to wait longer than this is told so at once. */
const LONGEST_WAIT_MS = 120_000;

export interface Retry {
  /** Which repetition is about to come, from 1. */
  attempt: number;
  waitMs: number;
  error: AppError;
}

export interface RetryOptions {
  maxRetries?: number;
  /** Called before each wait, so that a countdown can be shown. */
  onRetry?: ((retry: Retry) => void) | undefined;
  /** Rejects when the signal is raised. */
  sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<unknown>;
  random?: () => number;
  /** Besides the one of each request. */
  signal?: AbortSignal | undefined;
  context?: FaultContext;
}

/**
 * A model that tries again after faults of the moment, waiting longer each time or as long as the service
 * asks. Nothing is repeated once text has been streamed. Throws AppErrors only.
 */
export function withRetries(model: Model, options: RetryOptions = {}): Model {
  const { maxRetries = 3, onRetry, random = Math.random, context = {} } = options;
  const sleep = options.sleep ?? ((ms, signal) => delay(ms, undefined, { signal }));

  /** Returns when it is time to try again; throws when there is no point. */
  async function waitAfter(thrown: unknown, attempt: number, signal: AbortSignal | undefined): Promise<void> {
    const faultOf = (fault: unknown) => toAppError(fault, { ...context, signal });
    const error = signal?.aborted ? faultOf(signal.reason) : faultOf(thrown);
    const waitMs = error.retryAfter === undefined ? backoff(attempt, random()) : error.retryAfter * 1000;
    if (!error.recoverable || attempt > maxRetries || waitMs > LONGEST_WAIT_MS) throw error;
    onRetry?.({ attempt, waitMs, error });
    await sleep(waitMs, signal).catch((fault: unknown) => {
      throw faultOf(fault);
    });
    if (signal?.aborted) throw faultOf(signal.reason);
  }

  function withSignal(request: ModelRequest): ModelRequest {
    if (options.signal === undefined) return request;
    const { signal } = request;
    return {
      ...request,
      signal: signal === undefined ? options.signal : AbortSignal.any([signal, options.signal]),
    };
  }

  return {
    async getResponse(given) {
      const request = withSignal(given);
      for (let attempt = 1; ; attempt++) {
        try {
          request.signal?.throwIfAborted();
          return await model.getResponse(request);
        } catch (error) {
          await waitAfter(error, attempt, request.signal);
        }
      }
    },
    async *getStreamedResponse(given) {
      const request = withSignal(given);
      let started = false;
      for (let attempt = 1; ; attempt++) {
        let repeatable = true;
        try {
          request.signal?.throwIfAborted();
          for await (const event of model.getStreamedResponse(request)) {
            if (event.type === 'response_started') {
              if (started) continue;
              started = true;
            }
            repeatable &&= !isOutput(event);
            yield event;
          }
          // The client ends a stream quietly when it is aborted.
          request.signal?.throwIfAborted();
          return;
        } catch (error) {
          await waitAfter(error, repeatable ? attempt : Number.POSITIVE_INFINITY, request.signal);
        }
      }
    },
  };
}

function isOutput(event: StreamEvent): boolean {
  return event.type === 'output_text_delta' || event.type === 'response_done';
}

/** Between half and all of twice the wait before. */
function backoff(attempt: number, random: number): number {
  return Math.min(LONGEST_BACKOFF_MS, FIRST_WAIT_MS * 2 ** (attempt - 1)) * (0.5 + random / 2);
}
