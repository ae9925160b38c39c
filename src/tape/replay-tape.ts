import { randomUUID } from 'node:crypto';
import { AppError } from '../faults/app-error.ts';
import { createRedactor } from '../faults/redactor.ts';
import type { Runtime } from '../ports/runtime.ts';
import { blockNetwork } from './block-network.ts';
import type { ReplayContext, TapeMiss } from './explain-drift.ts';
import { openTape, type Tape } from './open-tape.ts';
import { type RecordedFetch, recordFetch } from './record-fetch.ts';
import { hideFilePlaces } from './redact/file-places.ts';
import { type Fetch, replayResponse, requestOf, type Timing, tapeRequest } from './tape-exchange.ts';
import type { TapeExchange, TapeHeader, TapeJson, TapeRequest } from './tape-format.ts';
import { createTapePlayer, type PlayedCounts, type TapePlayer } from './tape-player.ts';
import { createReplayRuntime } from './tape-runtime.ts';
import { createTapeWriter } from './tape-writer.ts';

/** What becomes of a request that is not on the tape: an error, the live service, or that with its answer kept. */
export type OnMiss = 'fail' | 'passthrough' | 'record';

/** A handler of msw, of whichever version: as much of it as is used. */
export interface OtherHandler {
  run(args: { request: Request; requestId: string }): Promise<{ response?: Response | undefined } | null>;
}

export interface ReplayTapeOptions {
  path: string;
  timing?: Timing | undefined;
  onMiss?: OnMiss | undefined;
  /** Configured keys, which requests may hold. */
  secrets?: readonly string[] | undefined;
  /** Further patterns of the user's; those of the tape hold anyway. */
  patterns?: readonly string[] | undefined;
  onMissed?: ((miss: TapeMiss | null, error: AppError) => void) | undefined;
  /** With `onMiss: 'record'`, who stands on the renewed tape. Its clock and ids stay: its requests were made with them. */
  renewedBy?: TapeHeader['madeBy'] | undefined;
  /** What is known when a miss is explained. */
  context?: (() => ReplayContext) | undefined;
  /** Who is asked before the tape. */
  handlers?: readonly OtherHandler[] | undefined;
  /** Whether another msw of this process is asked for what is not on the tape. */
  besides?: boolean | undefined;
}

interface ReplayingTape {
  readonly tape: Tape;
  /** The same clock and ids in every replay. */
  readonly runtime: Runtime;
  /** What was asked for and is not on the tape, in order. */
  misses(): readonly { miss: TapeMiss | null; error: AppError }[];
  counts(): PlayedCounts;
  /** Exchanges that were not asked for; to be called before `stop`. */
  unused(): number[];
  /** Requests go to the network again; once is enough. With `onMiss: 'record'` and outputs, the tape is renewed if anything was missing. */
  stop(outputs?: TapeJson): Promise<{ renewed: boolean }>;
}

/** Answers every request of this process from a tape from now on. Throws `invalid_input` for a tape that cannot be used. */
export async function replayTape(options: ReplayTapeOptions): Promise<ReplayingTape> {
  const { path, onMiss = 'fail' } = options;
  const { tape, redactor, player } = openPlayer(options);
  try {
    const header = { ...tape.header, madeBy: options.renewedBy ?? tape.header.madeBy };
    const writer =
      onMiss === 'record' ? await createTapeWriter({ path, header, redactor, keepUnchanged: true }) : null;
    const misses: { miss: TapeMiss | null; error: AppError }[] = [];
    const stop = await startReplay({
      player,
      onMiss,
      timing: options.timing ?? 'none',
      onMissed(miss, error) {
        misses.push({ miss, error });
        options.onMissed?.(miss, error);
      },
      ...(writer && { onExchange: (exchange) => writer.append(hideFilePlaces(exchange)) }),
      handlers: options.handlers,
      besides: options.besides,
    });
    let stopped = false;
    return {
      tape,
      runtime: createReplayRuntime(tape.header.seed, tape.header.createdAt),
      misses: () => misses,
      counts: player.counts,
      unused: player.unused,
      async stop(outputs) {
        if (stopped) return { renewed: false };
        stopped = true;
        stop();
        const renewed = writer !== null && outputs !== undefined && misses.length > 0;
        if (renewed) await writer.close(outputs);
        else await writer?.discard();
        tape.close();
        return { renewed };
      },
    };
  } catch (error) {
    tape.close();
    throw error;
  }
}

function edited(path: string): AppError {
  return new AppError('invalid_input', `${path} was edited after it was recorded.`, {
    hint: 'Record it again. To keep the edit, set its "origin" to "written by hand".',
  });
}

export interface TapeHandlers {
  readonly tape: Tape;
  /** For `setupServer` of whichever msw, whose types differ; what is not on the tape is left to the handlers after it. */
  readonly handlers: never[];
  counts(): PlayedCounts;
}

/** A tape as a handler of msw, for whoever runs a server of their own. Throws `invalid_input` for a tape that cannot be used. */
export async function tapeHandlers(
  options: Pick<ReplayTapeOptions, 'path' | 'timing' | 'secrets' | 'patterns'>,
): Promise<TapeHandlers> {
  const { http } = await import('msw');
  const { tape, player } = openPlayer(options);
  const handler = http.all('*', async ({ request }) => {
    const found = player.find(await requestOf(request.clone()));
    return found === null ? undefined : replayResponse(found, options.timing ?? 'none', request.signal);
  });
  // What msw 2 knows handlers by.
  Object.assign(handler, { __kind: 'RequestHandler' });
  const handlers: unknown[] = [handler];
  return { tape, handlers: handlers as never[], counts: player.counts };
}

function openPlayer({ path, secrets = [], patterns = [], context }: ReplayTapeOptions) {
  const tape = openTape(path);
  if (tape.edited) {
    tape.close();
    throw edited(path);
  }
  const redactor = createRedactor({ secrets, patterns: [...tape.header.redact, ...patterns] });
  return { tape, redactor, player: createTapePlayer(tape, redactor, context) };
}

interface ReplayOptions {
  player: TapePlayer;
  timing: Timing;
  onMiss: OnMiss;
  /** Hears of each request that is not on the tape; what it was is not known of a connection that was refused. */
  onMissed: (miss: TapeMiss | null, error: AppError) => void;
  /** Hears of each exchange, whether it was found or made, in the order of the answers. */
  onExchange?: (exchange: TapeExchange) => void;
  handlers?: readonly OtherHandler[] | undefined;
  besides?: boolean | undefined;
}

/** What is replayed now; one at a time. */
let replaying: { onMiss: OnMiss } | null = null;

/** Whether every request is answered from a tape and none leaves the process, so that no key is needed. */
export function isReplaying(): boolean {
  return replaying?.onMiss === 'fail';
}

/**
 * From here on every call of `fetch` in this process is answered from the tape, until the
 * function it gives back is called. Calls are handed to msw's handlers directly, which spares them the socket that msw's server would
 * make for each, and lets a miss reach the caller as the AppError that it is. Unless misses may go to the live
 * service, no connection is let out at all.
 */
async function startReplay(options: ReplayOptions): Promise<() => void> {
  const { player, timing, onMiss, onMissed, onExchange, handlers = [], besides = false } = options;
  const { getResponse, http } = await import('msw');
  if (replaying !== null) {
    throw new AppError('invalid_input', 'A tape is being replayed already: one at a time.', {
      hint: 'Stop the other replay first.',
    });
  }
  const own = { onMiss };
  replaying = own;
  const before = globalThis.fetch;
  let ids = 0;
  let stopped = false;
  const live = liveFetch();
  const network = onMiss === 'fail' ? blockNetwork((error) => onMissed(null, error)) : null;

  /** What msw need not read once more. */
  const described = new WeakMap<Request, TapeRequest>();
  const fromTape = http.all('*', async ({ request }) => {
    const found = player.find(described.get(request) ?? (await requestOf(request)));
    if (found === null) return undefined;
    ids += 1;
    onExchange?.({ ...found, id: ids });
    return replayResponse(found, timing, request.signal);
  });

  const replayOver =
    (service: Fetch): Fetch =>
    async (...args) => {
      if (stopped) return service(...args);
      const { request: tapeForm, call } = await tapeRequest(...args);
      const [input, init] = call;
      const signal = init?.signal ?? (input instanceof Request ? input.signal : null);
      signal?.throwIfAborted();
      const given = handlers.length === 0 ? undefined : await answerOf(handlers, wholeRequest(call));
      if (given !== undefined) return given;
      const request = new Request(tapeForm.url, { method: tapeForm.method, signal });
      described.set(request, tapeForm);
      const response = await getResponse([fromTape], request);
      if (response !== undefined) return Object.defineProperty(response, 'url', { value: tapeForm.url });
      if (besides && network !== null) {
        const answer = await network.quietly(() => before(...call)).catch(notAnswered);
        if (answer !== null) return answer;
      }
      const { miss, error } = player.miss(tapeForm);
      onMissed(miss, error);
      if (onMiss === 'fail') throw error;
      return live.over(service)(...call);
    };
  const replayFetch = replayOver(before);
  globalThis.fetch = replayFetch;

  return () => {
    stopped = true;
    if (replaying === own) replaying = null;
    live.settle();
    network?.unblock();
    // Whoever has wrapped it since keeps it, and it lets everything through.
    if (globalThis.fetch === replayFetch) globalThis.fetch = before;
  };

  function liveFetch(): RecordedFetch {
    if (onMiss !== 'record' || onExchange === undefined)
      return { fetch: before, over: (service) => service, settle: () => {} };
    return recordFetch(before, {
      nextId: () => {
        ids += 1;
        return ids;
      },
      onExchange,
    });
  }
}

async function answerOf(handlers: readonly OtherHandler[], request: Request): Promise<Response | undefined> {
  for (const handler of handlers) {
    const result = await handler.run({ request: request.clone(), requestId: randomUUID() });
    if (result?.response !== undefined) return result.response;
  }
  return undefined;
}

function wholeRequest([input, init]: Parameters<Fetch>): Request {
  return input instanceof Request ? input.clone() : new Request(input, init);
}

/**
 * Null where no other msw has answered: it let the request through to the network, or refused it as unknown. That it
 * gave it up, or that a handler plays a broken network, are answers.
 */
function notAnswered(error: unknown): null {
  const { name, cause } = (error ?? {}) as Partial<Error>;
  if (name === 'AbortError' || name === 'TimeoutError' || isPlayed(cause)) throw error;
  return null;
}

/** msw keeps the `Response.error()` of a handler as the cause, or in it under a symbol. */
function isPlayed(cause: unknown): boolean {
  if (cause instanceof Response || !(cause instanceof Error)) return cause instanceof Response;
  return Object.getOwnPropertySymbols(cause).some((symbol) => Reflect.get(cause, symbol) instanceof Response);
}
