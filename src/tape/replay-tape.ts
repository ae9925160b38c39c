import { Socket } from 'node:net';
import { AppError } from '../faults/app-error.ts';
import { createRedactor } from '../faults/redactor.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { Miss } from './explain-miss.ts';
import { openTape, type Tape } from './open-tape.ts';
import { type RecordedFetch, recordFetch } from './record-fetch.ts';
import { type Fetch, replayResponse, requestOf, type Timing, tapeRequest } from './tape-exchange.ts';
import type { TapeExchange, TapeHeader, TapeJson, TapeRequest } from './tape-format.ts';
import { createTapePlayer, type PlayedCounts, type TapePlayer } from './tape-player.ts';
import { createReplayRuntime } from './tape-runtime.ts';
import { createTapeWriter } from './tape-writer.ts';

/** What becomes of a request that is not on the tape: an error, the live service, or that with its answer kept. */
export type OnMiss = 'fail' | 'passthrough' | 'record';

export interface ReplayTapeOptions {
  path: string;
  timing?: Timing | undefined;
  onMiss?: OnMiss | undefined;
  /** Configured keys, which requests may hold. */
  secrets?: readonly string[] | undefined;
  /** Further patterns of the user's; those of the tape hold anyway. */
  patterns?: readonly string[] | undefined;
  onMissed?: ((miss: Miss | null, error: AppError) => void) | undefined;
  /** With `onMiss: 'record'`, who stands on the renewed tape. Its clock and ids stay: its requests were made with them. */
  renewedBy?: TapeHeader['madeBy'] | undefined;
}

interface ReplayingTape {
  readonly tape: Tape;
  /** The same clock and ids in every replay. */
  readonly runtime: Runtime;
  /** What was asked for and is not on the tape, in order. */
  misses(): readonly { miss: Miss | null; error: AppError }[];
  counts(): PlayedCounts;
  /** Exchanges that were not asked for; to be called before `stop`. */
  unused(): number[];
  /** Requests go to the network again; once is enough. With `onMiss: 'record'` and outputs, the tape is renewed if anything was missing. */
  stop(outputs?: TapeJson): Promise<{ renewed: boolean }>;
}

/** Answers every request of this process from a tape from now on. Throws `invalid_input` for a tape that cannot be used. */
export async function replayTape(options: ReplayTapeOptions): Promise<ReplayingTape> {
  const { path, onMiss = 'fail' } = options;
  const tape = openTape(path);
  try {
    if (tape.edited) throw edited(path);
    const redactor = createRedactor({
      secrets: options.secrets ?? [],
      patterns: [...tape.header.redact, ...(options.patterns ?? [])],
    });
    const player = createTapePlayer(tape, redactor);
    const header = { ...tape.header, madeBy: options.renewedBy ?? tape.header.madeBy };
    const writer = onMiss === 'record' ? await createTapeWriter({ path, header, redactor }) : null;
    const misses: { miss: Miss | null; error: AppError }[] = [];
    const stop = await startReplay({
      player,
      onMiss,
      timing: options.timing ?? 'none',
      onMissed(miss, error) {
        misses.push({ miss, error });
        options.onMissed?.(miss, error);
      },
      ...(writer && { onExchange: writer.append }),
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
  return new AppError('invalid_input', `${path} says that it was recorded, but it was changed since.`, {
    hint: 'Record it again. If the change is meant, its "origin" must say "written by hand".',
  });
}

interface ReplayOptions {
  player: TapePlayer;
  timing: Timing;
  onMiss: OnMiss;
  /** Hears of each request that is not on the tape; what it was is not known of a connection that was refused. */
  onMissed: (miss: Miss | null, error: AppError) => void;
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
async function startReplay(options: ReplayOptions): Promise<() => void> {
  const { player, timing, onMiss, onMissed, onExchange } = options;
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
    const tapeForm = described.get(request) ?? (await requestOf(request));
    const found = player.find(tapeForm);
    if (found !== null) {
      ids += 1;
      onExchange?.({ ...found, id: ids });
      return replayResponse(found, timing, signal);
    }
    const { miss, error } = player.miss(tapeForm);
    onMissed(miss, error);
    if (onMiss === 'fail') throw error;
    return passthrough();
  });

  // Other clients than `fetch` cannot be handed an AppError; what msw's server is thrown it would let through.
  const unblock = onMiss === 'fail' ? blockNetwork((error) => onMissed(null, error)) : () => {};
  const server = setupServer(
    http.all(
      '*',
      async ({ request }) =>
        (await getResponse([handler], request).catch(() => null)) ?? HttpResponse.error(),
    ),
  );
  server.listen({ onUnhandledFrame: 'error' });
  const replayFetch: Fetch = async (...args) => {
    const { request: tapeForm, call } = await tapeRequest(...args);
    const [input, init] = call;
    const signal = init?.signal ?? (input instanceof Request ? input.signal : null);
    signal?.throwIfAborted();
    const request = new Request(tapeForm.url, { method: tapeForm.method, signal });
    described.set(request, tapeForm);
    const response = await getResponse([handler], request);
    if (response === undefined || isPassthroughResponse(response)) return live.fetch(...call);
    return Object.defineProperty(response, 'url', { value: tapeForm.url });
  };
  replaying.add(replayFetch);
  globalThis.fetch = replayFetch;

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
      nextId: () => {
        ids += 1;
        return ids;
      },
      onExchange,
    });
  }
}

/** Under these names undici, the one in Node and the one of the package, keeps its pool for all of the process. */
const DISPATCHERS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];

/**
 * Until the function it gives back is called, nothing leaves this process over the network, whoever sends it: not all
 * clients go through `fetch`, or through what msw watches. Pipes and sockets in the file system stay open.
 */
function blockNetwork(onAttempt: (error: AppError) => void): () => void {
  const { connect } = Socket.prototype;

  function refused(address: string): AppError {
    const message = `A connection to ${address} was tried, and a replay makes none.`;
    const error = new AppError('replay_drift', message, {
      hint: 'Only calls of fetch are on tapes. What else needs the network cannot be replayed.',
      recoverable: false,
    });
    onAttempt(error);
    return error;
  }

  function refuse(this: Socket, ...args: unknown[]): Socket {
    const address = addressOf(args);
    if (address === null) return Reflect.apply(connect, this, args);
    const error = refused(address);
    process.nextTick(() => this.destroy(error));
    return this;
  }

  const restore = DISPATCHERS.map((symbol) => replaceDispatcher(symbol, refused));
  Socket.prototype.connect = refuse as typeof connect;
  return () => {
    for (const each of restore) each();
    if (Socket.prototype.connect === refuse) Socket.prototype.connect = connect;
  };
}

/** A pool may hold connections from before, which need no new one. */
function replaceDispatcher(symbol: symbol, refused: (address: string) => AppError): () => void {
  const before: unknown = Reflect.get(globalThis, symbol);
  if (before === undefined) return () => {};
  Reflect.set(globalThis, symbol, {
    dispatch({ origin }: { origin?: unknown }) {
      throw refused(String(origin));
    },
  });
  return () => void Reflect.set(globalThis, symbol, before);
}

/** Null for what is no connection over the network. */
function addressOf([first, second]: unknown[]): string | null {
  // Node passes its own normalised arguments on as a list.
  const target: unknown = Array.isArray(first) ? first[0] : first;
  if (typeof target === 'number' || /^\d+$/.test(String(target))) return `${second ?? 'localhost'}:${target}`;
  const { host, port } = (target ?? {}) as { host?: string; port?: number | string };
  return port === undefined || port === null ? null : `${host ?? 'localhost'}:${port}`;
}
