import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import type { Model, ModelRequest, StreamEvent } from '@openai/agents-core';
import { getField } from '../../faults/network-errors.ts';
import { type RetryOptions, startRetries } from '../../faults/retry.ts';
import { type ModelErrorContext, toAppError } from './model-errors.ts';

const MAX_BACKOFF_MS = 8000;

/** Says that the text that was streamed is void, because the request is repeated. The SDK passes it on. */
const TEXT_DISCARDED = { type: 'model', event: { type: 'citeloop.text_discarded' } } as const;

export function isTextDiscarded(event: StreamEvent): boolean {
  return event.type === 'model' && getField(event.event, 'type') === TEXT_DISCARDED.event.type;
}

/**
 * A model that retries recoverable errors. If text was streamed before the error, an event says that it is void. Throws
 * AppErrors only.
 */
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
        let [hasText, isDone] = [false, false];
        try {
          request.signal?.throwIfAborted();
          for await (const event of model.getStreamedResponse(request)) {
            if (event.type === 'response_started') {
              if (started) continue;
              started = true;
            }
            hasText ||= event.type === 'output_text_delta';
            isDone ||= event.type === 'response_done';
            yield event;
          }
          // The client ends an aborted stream without an error.
          request.signal?.throwIfAborted();
          return;
        } catch (error) {
          // The text is read before the notice of the retry.
          if (hasText) await nextLoopTurn();
          await waitAfter(error, !isDone);
          if (hasText) yield TEXT_DISCARDED;
        }
      }
    },
  };
}
