import type { Model, ModelRequest, StreamEvent } from '@openai/agents-core';
import { type RetryOptions, startRetries } from '../../faults/retry.ts';
import { type ModelErrorContext, toAppError } from './model-errors.ts';

const LONGEST_BACKOFF_MS = 8000;

/** The signal is one besides that of each request. */
interface ModelRetryOptions extends RetryOptions {
  context?: ModelErrorContext | undefined;
}

/**
 * A model that tries again after faults of the moment, waiting longer each time or as long as the service
 * asks. Nothing is repeated once text has been streamed. Throws AppErrors only.
 */
export function withRetries(model: Model, options: ModelRetryOptions = {}): Model {
  /** Returns when it is time to try again; throws when there is no point. */
  function patience(
    signal: AbortSignal | undefined,
  ): (thrown: unknown, repeatable?: boolean) => Promise<void> {
    const retries = startRetries({ longestBackoffMs: LONGEST_BACKOFF_MS, ...options, signal });
    const faultOf = (fault: unknown) => toAppError(fault, { ...options.context, signal });
    return async (thrown, repeatable = true) => {
      const error = faultOf(signal?.aborted ? signal.reason : thrown);
      const again =
        repeatable && (await retries.waitAfter(error).catch((fault) => Promise.reject(faultOf(fault))));
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
      const waitAfter = patience(request.signal);
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
      const waitAfter = patience(request.signal);
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
          // The client ends a stream quietly when it is aborted.
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
