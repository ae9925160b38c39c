import type { Model, ModelRequest } from '@openai/agents-core';
import { AppError } from '../../domain/app-error.ts';

/**
 * A model that gives up on a service that is silent: for so long before the answer begins, between two pieces
 * of it, or, when it is not streamed, until it is there.
 */
export function withIdleTimeout(model: Model, ms: number): Model {
  return {
    async getResponse(request) {
      const watch = startWatch(request, ms);
      return await watch.during(model.getResponse(watch.request));
    },
    async *getStreamedResponse(request) {
      const watch = startWatch(request, ms);
      const events = model.getStreamedResponse(watch.request)[Symbol.asyncIterator]();
      try {
        for (;;) {
          const { done, value } = await watch.during(events.next());
          if (done) return;
          yield value;
        }
      } finally {
        // Not awaited: a model that does not heed the signal would never end.
        events.return?.().catch(() => undefined);
      }
    },
  };
}

interface Watch {
  /** With a signal that is also raised when the service has been silent for too long. */
  request: ModelRequest;
  /** Waits for the next sign of life. */
  during<T>(next: Promise<T>): Promise<T>;
}

function startWatch(request: ModelRequest, ms: number): Watch {
  const silence = new AbortController();
  const signal = AbortSignal.any([silence.signal, ...(request.signal === undefined ? [] : [request.signal])]);
  return {
    request: { ...request, signal },
    during<T>(next: Promise<T>) {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const stop = () => reject(signal.reason);
      const timer = setTimeout(() => silence.abort(silent(ms)), ms);
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop);
      next.then(resolve, reject);
      return promise.finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
      });
    },
  };
}

function silent(ms: number): AppError {
  return new AppError('api_error', `The model service sent nothing for ${ms / 1000} seconds.`, {
    recoverable: true,
    hint: 'Try again; a service that is slow to begin may need a longer timeout.',
  });
}
