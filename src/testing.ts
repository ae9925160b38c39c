import { createMemorySessionStore } from './app/sessions.ts';
import type { AppError } from './faults/app-error.ts';
import type { CreateAgentOptions } from './index.ts';
import type { Runtime } from './ports/runtime.ts';
import type { SessionStore } from './ports/session-store.ts';
import { createTapeHandlers, type OnMiss, replayTape } from './tape/replay-tape.ts';
import type { TapeHeader } from './tape/tape-format.ts';
import type { Timing } from './tape/tape-http.ts';
import { createReplayRuntime } from './tape/tape-runtime.ts';

export type { Runtime } from './ports/runtime.ts';
export type { OnMiss } from './tape/replay-tape.ts';
export type { TapeHeader } from './tape/tape-format.ts';
export type { Timing } from './tape/tape-http.ts';

export interface UseTapeOptions {
  /** `none` answers at once, `recorded` as slowly as the service did. */
  timing?: Timing;
  /** What becomes of a request that is not on the tape; `fail` unless given. */
  onMiss?: Exclude<OnMiss, 'record'>;
  /** Patterns that are removed from requests before they are looked up, besides those of the tape. */
  redact?: readonly string[];
}

export interface UsedTape extends AsyncDisposable {
  readonly header: TapeHeader;
  /** What the recorded run was configured with, for `createAgent({ ...settings })`. */
  readonly settings: CreateAgentOptions;
  /** A clock that stands still and ids that are the same in every replay, for `createAgent({ runtime })`. */
  readonly runtime: Runtime;
  /** Sessions that end with the test, for `createAgent({ sessions })`: ids come again with every replay. */
  readonly sessions: SessionStore;
  /** What was asked for and is not on the tape. */
  misses(): readonly AppError[];
  /** How many of its exchanges were used, given again, or missing. */
  counts(): { used: number; repeated: number; missed: number };
  /** Requests go to the network again. Throws the first miss, should the code under test have swallowed it. */
  stop(): Promise<void>;
}

/**
 * `await useTape('chat.tape.json')` in a test, in a hook or at the top of a test file: until the test, or the file, is over every
 * request is answered from the tape, and none leaves the process. What is not on it is asked of a server of your own
 * msw, whether that was started before or after. `createAgent` needs no key meanwhile. With a runner other than vitest,
 * call `stop` or declare it with `await using`.
 */
export async function useTape(path: string, options: UseTapeOptions = {}): Promise<UsedTape> {
  const { timing, onMiss = 'fail', redact } = options;
  const replaying = await replayTape({ path, timing, onMiss, patterns: redact });
  let stopped = false;

  async function stop(): Promise<void> {
    if (stopped) return;
    stopped = true;
    await replaying.stop();
    const [first] = replaying.misses();
    if (first !== undefined && onMiss === 'fail') throw first.error;
  }

  await stopAfterTest(stop);
  return {
    header: replaying.tape.header,
    settings: settingsOf(replaying.tape.header),
    runtime: replaying.runtime,
    sessions: createMemorySessionStore(),
    misses: () => replaying.misses().map(({ error }) => error),
    counts: replaying.counts,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export interface HandledTape {
  readonly header: TapeHeader;
  readonly settings: CreateAgentOptions;
  /**
   * For `setupServer(...handlers)`, or `server.use(...handlers)`. What is not on the tape is left to the others. Of no type
   * of their own, so that the msw that you have takes them, be it 2 or 3.
   */
  readonly handlers: never[];
  readonly runtime: Runtime;
  readonly sessions: SessionStore;
  counts(): { used: number; repeated: number; missed: number };
  /** Closes its file. */
  close(): void;
}

/** A tape as handlers for a server of your own msw, which then says what becomes of requests that are not on it. */
export async function handleTape(
  path: string,
  { timing, redact }: Pick<UseTapeOptions, 'timing' | 'redact'> = {},
): Promise<HandledTape> {
  const { tape, handlers, counts } = createTapeHandlers({ path, timing, patterns: redact });
  const { header } = tape;
  return {
    header,
    settings: settingsOf(header),
    handlers,
    runtime: createReplayRuntime(header.seed, header.createdAt),
    sessions: createMemorySessionStore(),
    counts,
    close: tape.close,
  };
}

/** Whatever it says is checked when an agent is made of it. */
function settingsOf({ inputs: { settings } }: TapeHeader): CreateAgentOptions {
  return typeof settings === 'object' && settings !== null && !Array.isArray(settings) ? settings : {};
}

/** After the test that runs, or else after the file. Whoever tests with vitest has it; it is not a dependency. */
async function stopAfterTest(stop: () => Promise<void>): Promise<void> {
  const runner = await import('vitest').catch(() => null);
  for (const register of [runner?.onTestFinished, runner?.afterAll]) {
    try {
      register?.(stop);
      return;
    } catch {
      // Not within a test, or not run by vitest at all.
    }
  }
}
