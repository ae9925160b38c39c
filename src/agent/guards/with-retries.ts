import type { Model, ModelRequest, StreamEvent } from '@openai/agents-core';
import { type RetryOptions, startRetries } from '../../faults/retry.ts';
import { type ModelErrorContext, toAppError } from './model-errors.ts';

const MAX_BACKOFF_MS = 8000;

/** A model that retries recoverable errors, but not after text has been streamed. Throws AppErrors only. */
export function withRetries(
  model: Model,
  options: RetryOptions & { context?: ModelErrorContext | undefined } = {},
): Model {
  /** A function that waits before a retry, or throws if there is none. */
  function createWait(
    signal: AbortSignal | undefined,
  ): (thrown: unknown, repeatable?: boolean) => Promise<void> {
    const retries = startRetries({ longestBackoffMs: MAX_BACKOFF_MS, ...options, signal });
    const convert = (thrown: unknown) => toAppError(thrown, { ...options.context, signal });
    return async (thrown, repeatable = true) => {
      const error = convert(signal?.aborted ? signal.reason : thrown);
      const again =
        repeatable && (await retries.waitAfter(error).catch((reason) => Promise.reject(convert(reason))));
      if (!again) throw error;
    };
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
      const waitAfter = createWait(request.signal);
      for (;;) {
        try {
          request.signal?.throwIfAborted();
          return await model.getResponse(request);
        } catch (error) {
          await waitAfter(error);
        }
      }
    },
    async *getStreamedResponse(given) {
      const request = withSignal(given);
      const waitAfter = createWait(request.signal);
      let started = false;
      for (;;) {
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
          // The client ends an aborted stream without an error.
          request.signal?.throwIfAborted();
          return;
        } catch (error) {
          await waitAfter(error, repeatable);
        }
      }
    },
  };
}

function isOutput(event: StreamEvent): boolean {
  return event.type === 'output_text_delta' || event.type === 'response_done';
}
