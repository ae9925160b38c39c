import type { RequestHandler } from 'msw';
import { defineNetwork, HttpNetworkFrame, NetworkSource } from 'msw/experimental';
import { AppError } from '../faults/app-error.ts';

type Fetch = typeof globalThis.fetch;

/** Marks a `fetch` that is intercepted, so that a second interception is noticed. */
const INTERCEPTED = Symbol('intercepted fetch');

/**
 * Answers every call of the global `fetch` by msw handlers until the returned function is called. Unlike `setupServer`,
 * it does not go through sockets: errors of handlers reach the caller of `fetch` as they are, and another msw server in
 * the process keeps working. `onUnhandled` returns the response to a request that no handler answers, or throws what
 * `fetch` should throw. Throws `invalid_input` if `fetch` is intercepted already.
 */
export function interceptFetch(
  handlers: RequestHandler[],
  onUnhandled: (request: Request, originalFetch: Fetch) => Promise<Response>,
): () => void {
  const source = new FetchSource();
  const network = defineNetwork({
    sources: [source],
    handlers,
    context: { quiet: true },
    async onUnhandledFrame({ frame }) {
      if (frame instanceof FetchFrame)
        frame.respondWith(await onUnhandled(frame.data.request, source.originalFetch));
    },
  });
  network.enable();
  return () => network.disable();
}

class FetchFrame extends HttpNetworkFrame {
  readonly outcome = Promise.withResolvers<Response>();

  constructor(request: Request) {
    super({ request });
    // Without a listener msw prints the recorded errors that a handler throws.
    this.events.on('unhandledException', () => {});
  }

  respondWith(response: Response): void {
    this.outcome.resolve(response);
  }

  errorWith(reason: unknown): void {
    this.outcome.reject(reason);
  }

  /** Refuses `bypass()` of msw. After `onUnhandledFrame`, when msw calls it too, it has no effect. */
  passthrough(): void {
    this.outcome.reject(new TypeError('A replay does not let requests bypass it.'));
  }
}

class FetchSource extends NetworkSource<FetchFrame> {
  readonly originalFetch = globalThis.fetch;
  #isEnabled = false;

  readonly #fetch: Fetch = Object.assign(
    async (...args: Parameters<Fetch>) => {
      // Another msw server may have wrapped this function and still call it.
      if (!this.#isEnabled) return this.originalFetch(...args);
      const request = new Request(...args);
      request.signal.throwIfAborted();
      const frame = new FetchFrame(request);
      const [response] = await Promise.all([frame.outcome.promise, this.queue(frame)]);
      return Object.defineProperty(response, 'url', { value: request.url });
    },
    { [INTERCEPTED]: true },
  );

  enable(): void {
    if (INTERCEPTED in globalThis.fetch) {
      throw new AppError('invalid_input', 'Another tape is being replayed in this process.', {
        hint: 'Stop that replay first.',
      });
    }
    this.#isEnabled = true;
    globalThis.fetch = this.#fetch;
  }

  override disable(): void {
    super.disable();
    this.#isEnabled = false;
    if (globalThis.fetch === this.#fetch) globalThis.fetch = this.originalFetch;
  }
}
