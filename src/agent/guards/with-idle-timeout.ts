import type { Model, ModelRequest } from '@openai/agents-core';
import { AppError } from '../../faults/app-error.ts';

/**
 * A model that gives up on a service that is silent: for so long before the answer begins, between two pieces
 * of it, or, when it is not streamed, until it is there. The provider's own events, of which each piece has
 * one beside the SDK's, count as signs of life and go no further: nobody reads them.
 */
export function withIdleTimeout(model: Model, ms: number): Model {
  return {
    async getResponse(request) {
      const watch = startWatch(request, ms);
      try {
        return await watch.during(model.getResponse(watch.request));
      } finally {
        watch.end();
      }
    },
    async *getStreamedResponse(request) {
      const watch = startWatch(request, ms);
      const events = model.getStreamedResponse(watch.request)[Symbol.asyncIterator]();
      try {
        for (;;) {
          const { done, value } = await watch.during(events.next());
          if (done) return;
          if (value.type !== 'model') yield value;
        }
      } finally {
        watch.end();
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
  end(): void;
}

/** One timer and one listener for the whole answer: it may come in thousands of pieces. */
function startWatch(request: ModelRequest, ms: number): Watch {
  const given = request.signal;
  const controller = new AbortController();
  const { signal } = controller;
  let giveUp: ((reason: unknown) => void) | undefined;
  let timer: NodeJS.Timeout | undefined;

  function stop(reason: unknown): void {
    controller.abort(reason);
    giveUp?.(reason);
  }
  const interrupt = () => stop(given?.reason);
  // Only the service's silence counts, not the time that the reader takes for a piece.
  const onSilence = () => giveUp && stop(silent(ms));
  given?.addEventListener('abort', interrupt);
  if (given?.aborted) interrupt();

  return {
    request: { ...request, signal },
    during<T>(next: Promise<T>) {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      giveUp = reject;
      timer = timer?.refresh() ?? setTimeout(onSilence, ms);
      if (signal.aborted) reject(signal.reason);
      next.then((value) => {
        giveUp = undefined;
        resolve(value);
      }, reject);
      return promise;
    },
    end() {
      clearTimeout(timer);
      given?.removeEventListener('abort', interrupt);
    },
  };
}

function silent(ms: number): AppError {
  return new AppError('api_error', `The model service sent nothing for ${ms / 1000} seconds.`, {
    recoverable: true,
    hint: 'Try again; a service that is slow to begin may need a longer timeout.',
  });
}
