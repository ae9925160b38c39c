import { createMemorySessionStore } from './app/sessions.ts';
import type { AppError } from './faults/app-error.ts';
import type { CreateAgentOptions } from './index.ts';
import type { Runtime } from './ports/runtime.ts';
import type { SessionStore } from './ports/session-store.ts';
import type { ReplayCounts } from './tape/exchange-finder.ts';
import { type OnMiss, startTapeReplay } from './tape/replay-tape.ts';
import { type TapeHeader, toJsonObject } from './tape/tape-format.ts';
import type { ReplayTiming } from './tape/tape-http.ts';

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

export interface UseTapeResult extends AsyncDisposable {
  readonly header: TapeHeader;
  /** The settings of the recorded run, for `createAgent({ ...settings })`. They are validated there. */
  readonly settings: CreateAgentOptions;
  /** Gives the same time and ids in every replay, for `createAgent({ runtime })`. With it, no key is needed. */
  readonly runtime: Runtime;
  /** Sessions in memory, for `createAgent({ sessions })`. */
  readonly sessions: SessionStore;
  /** Numbers of exchanges used, of repeated requests and of misses. */
  counts(): ReplayCounts;
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
  const { header } = replay.tape;
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
    header,
    settings: toJsonObject(header.inputs.settings),
    runtime: replay.runtime,
    sessions: createMemorySessionStore(),
    misses: () => replay.misses().map(({ error }) => error),
    counts: replay.counts,
    stop,
    [Symbol.asyncDispose]: stop,
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
