import type { Model, ModelRequest } from '@openai/agents-core';
import { AppError } from '../../faults/app-error.ts';

/**
 * A model that fails if its service sends nothing for `ms`: before the first event, between two events, or until an
 * answer that is not streamed is complete. Drops the provider's raw events, which only show that the service is alive.
 */
export function withIdleTimeout(model: Model, ms: number): Model {
  return {
    async getResponse(request) {
      const watch = watchForSilence(request, ms);
      try {
        return await watch.waitFor(model.getResponse(watch.request));
      } finally {
        watch.stop();
      }
    },
    async *getStreamedResponse(request) {
      const watch = watchForSilence(request, ms);
      const events = model.getStreamedResponse(watch.request)[Symbol.asyncIterator]();
      try {
        for (;;) {
          const { done, value } = await watch.waitFor(events.next());
          if (done) return;
          if (value.type !== 'model') yield value;
        }
      } finally {
        watch.stop();
        // Not awaited: a model that ignores the signal would never return.
        events.return?.().catch(() => undefined);
      }
    },
  };
}

/** `waitFor` rejects after `ms` or when the request is aborted; the time between two calls does not count. */
function watchForSilence(request: ModelRequest, ms: number) {
  const controller = new AbortController();
  const { signal } = controller;
  const interrupt = () => controller.abort(request.signal?.reason);
  let rejectWaiting: ((reason: unknown) => void) | null = null;
  // One timer for all events: a new one for each would cost more than the rest of the guard.
  const timer = setTimeout(() => {
    if (rejectWaiting !== null) controller.abort(silentServiceError(ms));
  }, ms);
  signal.addEventListener('abort', () => rejectWaiting?.(signal.reason));
  request.signal?.addEventListener('abort', interrupt);
  if (request.signal?.aborted) interrupt();
  return {
    request: { ...request, signal },
    waitFor<T>(next: Promise<T>): Promise<T> {
      timer.refresh();
      return new Promise<T>((resolve, reject) => {
        rejectWaiting = reject;
        if (signal.aborted) reject(signal.reason);
        next.then((value) => {
          rejectWaiting = null;
          resolve(value);
        }, reject);
      });
    },
    stop() {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', interrupt);
    },
  };
}

function silentServiceError(ms: number): AppError {
  return new AppError('api_error', `The model service sent nothing for ${ms / 1000} seconds.`, {
    recoverable: true,
    hint: 'Try again, and check that the service is running.',
  });
}
