import { createMemorySessionStore } from './app/sessions.ts';
import type { AppError } from './faults/app-error.ts';
import type { CreateAgentOptions } from './index.ts';
import type { Runtime } from './ports/runtime.ts';
import type { SessionStore } from './ports/session-store.ts';
import type { ReplayCounts } from './tape/exchange-finder.ts';
import { createTapeHandlers, type OnMiss, startTapeReplay } from './tape/replay-tape.ts';
import type { TapeHeader } from './tape/tape-format.ts';
import type { ReplayTiming } from './tape/tape-http.ts';
import { createReplayRuntime } from './tape/tape-runtime.ts';

export type { Runtime } from './ports/runtime.ts';
export type { OnMiss } from './tape/replay-tape.ts';
export type { TapeHeader } from './tape/tape-format.ts';
export type { ReplayTiming } from './tape/tape-http.ts';

export interface UseTapeOptions {
  /** `none` (default) answers at once, `recorded` as slowly as the service did. */
  timing?: ReplayTiming;
  /** What happens to a request that is not on the tape (default `fail`). */
  onMiss?: Exclude<OnMiss, 'record'>;
  /** Patterns to remove from requests before they are matched, in addition to those of the tape. */
  redact?: readonly string[];
}

interface TapeAgentOptions {
  readonly header: TapeHeader;
  /** The settings of the recorded run, for `createAgent({ ...settings })`. */
  readonly settings: CreateAgentOptions;
  /** Gives the same time and ids in every replay, for `createAgent({ runtime })`. With it, no key is needed. */
  readonly runtime: Runtime;
  /** Sessions in memory, for `createAgent({ sessions })`. */
  readonly sessions: SessionStore;
  /** Numbers of exchanges used, of repeated requests and of misses. */
  counts(): ReplayCounts;
}

export interface UseTapeResult extends TapeAgentOptions, AsyncDisposable {
  /** Requests that are not on the tape. */
  misses(): readonly AppError[];
  /** Restores the network. Throws the first miss, even if the code under test caught it. */
  stop(): Promise<void>;
}

/**
 * Answers every request of the process from a tape until the test, or the test file, is over. A request that is not on
 * the tape goes to your own msw server, if there is one, and fails otherwise. With a runner other than vitest, call
 * `stop` or use `await using`.
 */
export async function useTape(path: string, options: UseTapeOptions = {}): Promise<UseTapeResult> {
  const { timing, onMiss = 'fail', redact } = options;
  const replay = await startTapeReplay({ path, timing, onMiss, patterns: redact });
  let isStopped = false;

  async function stop(): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    await replay.stop();
    const [first] = replay.misses();
    if (first !== undefined && onMiss === 'fail') throw first.error;
  }

  await stopAfterTest(stop);
  return {
    ...agentOptions(replay.tape.header),
    runtime: replay.runtime,
    misses: () => replay.misses().map(({ error }) => error),
    counts: replay.counts,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export interface HandleTapeResult extends TapeAgentOptions {
  /** For `setupServer(...handlers)` or `server.use(...handlers)` of msw 2 or 3. */
  readonly handlers: never[];
  /** Closes the file. */
  close(): void;
}

/** Returns a tape as handlers for your own msw server, which decides about requests that are not on it. */
export async function handleTape(
  path: string,
  { timing, redact }: Pick<UseTapeOptions, 'timing' | 'redact'> = {},
): Promise<HandleTapeResult> {
  const { tape, handlers, counts } = createTapeHandlers({ path, timing, patterns: redact });
  return { ...agentOptions(tape.header), handlers, counts, close: tape.close };
}

/** The settings are validated by `createAgent`. */
function agentOptions(header: TapeHeader): Omit<TapeAgentOptions, 'counts'> {
  const { settings } = header.inputs;
  return {
    header,
    settings: typeof settings === 'object' && settings !== null && !Array.isArray(settings) ? settings : {},
    runtime: createReplayRuntime(header.seed, header.createdAt),
    sessions: createMemorySessionStore(),
  };
}

/** Registers with vitest if it is running; it is not a dependency. */
async function stopAfterTest(stop: () => Promise<void>): Promise<void> {
  const vitest = await import('vitest').catch(() => null);
  for (const register of [vitest?.onTestFinished, vitest?.afterAll]) {
    try {
      register?.(stop);
      return;
    } catch {
      // Not inside a test, or not run by vitest.
    }
  }
}
