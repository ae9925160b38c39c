import { AppError } from '../domain/app-error.ts';
import { blockNetwork } from './block-network.ts';
import type { Miss } from './explain-miss.ts';
import { type RecordedFetch, recordFetch } from './record-fetch.ts';
import type { TapeExchange, TapeRequest } from './tape-format.ts';
import type { TapePlayer } from './tape-player.ts';
import { type Fetch, requestOf, tapeRequest } from './tape-request.ts';
import { replayResponse, type Timing } from './tape-response.ts';

export const ON_MISS = ['fail', 'passthrough', 'record'] as const;
export type OnMiss = (typeof ON_MISS)[number];

export interface ReplayOptions {
  player: TapePlayer;
  timing?: Timing;
  /** What becomes of a request that is not on the tape: an error, the live service, or that with its answer kept. */
  onMiss?: OnMiss;
  /** Hears of each request that is not on the tape; what it was is not known of a connection that was refused. */
  onMissed?: (miss: Miss | null, error: AppError) => void;
  /** Hears of each exchange, whether it was found or made, in the order of the answers. */
  onExchange?: (exchange: TapeExchange) => void;
}

const replaying = new WeakSet<Fetch>();

/**
 * From here on every request of this process is answered from the tape by msw, until the function it gives back is
 * called. Calls of `fetch` are handed to msw's handler directly, which spares them the socket that msw's server would
 * make for each, and lets a miss reach the caller as the AppError that it is. Its server
 * stands behind, for whatever else it watches. Unless misses may go to the live service, no connection is let out at all.
 */
export async function startReplay(options: ReplayOptions): Promise<() => void> {
  const { player, timing = 'none', onMiss = 'fail', onMissed, onExchange } = options;
  const [{ getResponse, HttpResponse, http, isPassthroughResponse, passthrough }, { setupServer }] =
    await Promise.all([import('msw'), import('msw/node')]);
  const before = globalThis.fetch;
  if (replaying.has(before)) {
    throw new AppError('invalid_input', 'A tape is being replayed already: one at a time.', {
      hint: 'Stop the other replay first.',
    });
  }
  let ids = 0;
  const live = liveFetch();

  /** What msw need not read once more. */
  const described = new WeakMap<Request, TapeRequest>();
  const handler = http.all('*', async ({ request }) => {
    const { signal } = request;
    const asked = described.get(request) ?? (await requestOf(request));
    const found = player.find(asked);
    if (found !== null) {
      ids += 1;
      onExchange?.({ ...found, id: ids });
      return replayResponse(found, timing, signal);
    }
    const { miss, error } = player.miss(asked);
    onMissed?.(miss, error);
    if (onMiss === 'fail') throw error;
    return passthrough();
  });

  // Other clients than `fetch` cannot be handed an AppError; what msw's server is thrown it would let through.
  const unblock = onMiss === 'fail' ? blockNetwork((error) => onMissed?.(null, error)) : () => {};
  const server = setupServer(
    http.all(
      '*',
      async ({ request }) =>
        (await getResponse([handler], request).catch(() => null)) ?? HttpResponse.error(),
    ),
  );
  server.listen({ onUnhandledFrame: 'error' });
  const answered: Fetch = async (...args) => {
    const { request: asked, call } = await tapeRequest(...args);
    const [input, init] = call;
    const signal = init?.signal ?? (input instanceof Request ? input.signal : null);
    signal?.throwIfAborted();
    const request = new Request(asked.url, { method: asked.method, signal });
    described.set(request, asked);
    const response = await getResponse([handler], request);
    if (response === undefined || isPassthroughResponse(response)) return live.fetch(...call);
    return Object.defineProperty(response, 'url', { value: asked.url });
  };
  replaying.add(answered);
  globalThis.fetch = answered;

  return () => {
    live.settle();
    // msw puts back what it found.
    server.close();
    unblock();
    globalThis.fetch = before;
  };

  function liveFetch(): RecordedFetch {
    if (onMiss !== 'record' || onExchange === undefined) return { fetch: before, settle: () => {} };
    return recordFetch(before, {
      elapsedMs: () => performance.now(),
      nextId: () => {
        ids += 1;
        return ids;
      },
      onExchange,
    });
  }
}
