import { type HttpHandler, http } from 'msw';
import type { AppError } from '../faults/app-error.ts';
import { createRedactor } from '../faults/redactor.ts';
import { blockNetwork } from './block-network.ts';
import { createExchangeFinder, type ExchangeFinder } from './exchange-finder.ts';
import type { ReplayContext } from './explain-drift.ts';
import { interceptFetch } from './intercept-fetch.ts';
import { assertUnedited, readTape } from './read-tape.ts';
import { createFetchRecorder } from './record-fetch.ts';
import { hideFilePaths } from './redact/file-paths.ts';
import type { TapeExchange, TapeHeader, TapeJson } from './tape-format.ts';
import { createReplayResponse, type ReplayTiming, toTapeRequest } from './tape-http.ts';
import { createReplayRuntime } from './tape-runtime.ts';
import { createTapeWriter, type TapeWriter } from './tape-writer.ts';

/** What happens to a request that is not on the tape: fail, send it, or send it and add it to the tape. */
export type OnMiss = 'fail' | 'passthrough' | 'record';

export interface ReplayTapeOptions {
  path: string;
  timing?: ReplayTiming | undefined;
  onMiss?: OnMiss | undefined;
  /** Configured keys, which requests may contain. */
  secrets?: readonly string[] | undefined;
  /** Redaction patterns in addition to those of the tape. */
  patterns?: readonly string[] | undefined;
  onMissed?: ((error: AppError) => void) | undefined;
  /** The program that a tape updated by `onMiss: 'record'` names. */
  renewedBy?: TapeHeader['madeBy'] | undefined;
  /** Called when a miss is explained. */
  context?: (() => ReplayContext) | undefined;
}

interface ReplayedMiss {
  /** Null for a connection that was not made by `fetch`. */
  reason: string | null;
  error: AppError;
}

/** Answers every request of this process from a tape until `stop`. Throws `invalid_input` if the tape cannot be used. */
export async function startTapeReplay(options: ReplayTapeOptions) {
  const { path, onMiss = 'fail', timing = 'none' } = options;
  using cleanup = new DisposableStack();
  const tape = readTape(path);
  assertUnedited(tape);
  const { secrets = [], patterns = [] } = options;
  const redactor = createRedactor({ secrets, patterns: [...tape.header.redact, ...patterns] });
  const finder = createExchangeFinder(tape, redactor, options.context);
  const misses: ReplayedMiss[] = [];
  const noteMiss = (miss: ReplayedMiss) => {
    misses.push(miss);
    options.onMissed?.(miss.error);
  };
  const network = onMiss === 'fail' ? blockNetwork((error) => noteMiss({ reason: null, error })) : null;
  if (network !== null) cleanup.defer(network.unblock);

  let writer: TapeWriter | null = null;
  const append = (exchange: TapeExchange) => writer?.append(hideFilePaths(exchange));
  const recorder = createFetchRecorder(globalThis.fetch, append);
  cleanup.defer(recorder.settle);
  const handler = createTapeHandler(finder, timing, (exchange) =>
    append({ ...exchange, id: recorder.nextId() }),
  );
  const disable = interceptFetch([handler], async (request, originalFetch) => {
    const answer = await network?.tryQuietly(() => originalFetch(request.clone())).catch(ignoreUnanswered);
    if (answer) return answer;
    const miss = finder.miss(await toTapeRequest(request.clone()));
    noteMiss(miss);
    if (onMiss === 'fail') throw miss.error;
    return recorder.fetch(request);
  });
  cleanup.defer(disable);
  if (onMiss === 'record') {
    const header = { ...tape.header, madeBy: options.renewedBy ?? tape.header.madeBy };
    writer = createTapeWriter({ path, header, redactor });
  }
  const replay = cleanup.move();
  return {
    tape,
    runtime: createReplayRuntime(tape.header.seed, tape.header.createdAt, onMiss !== 'fail'),
    /** In the order of the requests. */
    misses: (): readonly ReplayedMiss[] => misses,
    counts: finder.counts,
    /** Restores the network. With `onMiss: 'record'`, outputs and a miss, updates the tape. May be called again. */
    async stop(outputs?: TapeJson) {
      if (replay.disposed) return { renewed: false };
      replay.dispose();
      const renewed = writer !== null && outputs !== undefined && misses.length > 0;
      if (renewed) await writer?.close(outputs);
      else writer?.discard();
      return { renewed };
    },
  };
}

/** Handles the requests that are on the tape. */
function createTapeHandler(
  finder: ExchangeFinder,
  timing: ReplayTiming,
  onFound: (exchange: TapeExchange) => void,
): HttpHandler {
  const found = new WeakMap<Request, TapeExchange>();
  return http.all(
    async ({ request }) => {
      const exchange = finder.find(await toTapeRequest(request.clone()));
      if (exchange === null) return false;
      found.set(request, exchange);
      onFound(exchange);
      return true;
    },
    ({ request }) => createReplayResponse(found.get(request) as TapeExchange, timing, request.signal),
  );
}

/**
 * Null if no other msw server in the process answered the request, but the blocked network refused it. An abort or a
 * mocked network error is an answer and is thrown.
 */
function ignoreUnanswered(error: unknown): null {
  const { name, cause } = (error ?? {}) as Partial<Error>;
  if (name === 'AbortError' || name === 'TimeoutError' || isMockedError(cause)) throw error;
  return null;
}

/** msw sets the `Response.error()` of a handler as the cause, or as a symbol property of the cause. */
function isMockedError(cause: unknown): boolean {
  if (cause instanceof Response || !(cause instanceof Error)) return cause instanceof Response;
  return Object.getOwnPropertySymbols(cause).some((symbol) => Reflect.get(cause, symbol) instanceof Response);
}
