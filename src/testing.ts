import { randomUUID } from 'node:crypto';
import type { Model } from '@openai/agents-core';
import { configuredSecrets, toRunSettings } from './app/run-settings.ts';
import { openMemorySessionStore } from './app/sessions.ts';
import { systemRuntime } from './app/system-runtime.ts';
import { createModelFetch, createTapedModel } from './app/taped-model.ts';
import { throwUnknownSetting } from './config/collect-settings.ts';
import { loadConfig } from './config/load-config.ts';
import { settingNames } from './config/settings.ts';
import { isLocalModel } from './domain/agent-config.ts';
import type { AppError } from './faults/app-error.ts';
import type { AgentConfig, CreateAgentOptions, ServiceOptions } from './index.ts';
import { version } from './package.ts';
import type { Runtime } from './ports/runtime.ts';
import type { SessionStore } from './ports/session-store.ts';
import type { ReplayCounts } from './tape/exchange-finder.ts';
import { startTapeRecording } from './tape/record-run.ts';
import { type OnMiss, startTapeReplay } from './tape/replay-tape.ts';
import { emptyRunOutputs } from './tape/run-outputs.ts';
import { TAPE_VERSION, type TapeHeader, type TapeJson, toJsonObject } from './tape/tape-format.ts';
import type { ReplayTiming } from './tape/tape-http.ts';
import { createRecordingRuntime } from './tape/tape-runtime.ts';

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

/** What a recording and its replays have in common, so that one function can run under both. */
export interface TapeRun {
  /** The settings of the recorded run, for `createAgent({ ...settings })`. They are validated there. */
  readonly settings: CreateAgentOptions;
  /** Gives the same time and ids in every replay, for `createAgent({ runtime })`. With it, no key is needed. */
  readonly runtime: Runtime;
  /** Sessions in memory, for `createAgent({ sessions })`. */
  readonly sessions: SessionStore;
  /** The model object to pass to `createAgent({ model })`: recorded the first time, and not called by a replay. */
  model(model: Model): Model;
}

export interface UseTapeResult extends TapeRun, AsyncDisposable {
  readonly header: TapeHeader;
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
    sessions: await openMemorySessionStore(),
    model: createTapedModel,
    misses: () => replay.misses().map(({ error }) => error),
    counts: replay.counts,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export interface RecordTapeOptions {
  /** Settings for `createAgent`, which the tape stores. */
  settings?: Partial<AgentConfig> & ServiceOptions;
  /** Patterns of texts to remove from the tape, as regular expressions. */
  redact?: readonly string[];
  /** Keys to remove, in addition to those in the environment. */
  secrets?: readonly string[];
}

/**
 * Runs `work` and records every `fetch` of the process, and the calls of `run.model`, in a tape. Replaces an existing
 * tape when `work` ends; if it throws, the tape is unchanged.
 */
export async function recordTape<T>(
  path: string,
  work: (run: TapeRun) => Promise<T>,
  { settings: given = {}, redact = [], secrets = [] }: RecordTapeOptions = {},
): Promise<T> {
  for (const name of Object.keys(given)) {
    if (!settingNames.some((known) => known === name))
      throwUnknownSetting(name, 'Unknown setting', 'invalid_input');
  }
  const config = loadConfig({ options: given });
  // Defaults of the offline model are not those of a model object.
  const isStored = (name: string) => !isLocalModel(config.agent.model) || name in config.given;
  const settings = Object.fromEntries(
    Object.entries(toRunSettings(config)).filter(([name]) => isStored(name)),
  );
  const header: TapeHeader = {
    version: TAPE_VERSION,
    origin: 'recorded',
    madeBy: { program: 'citeloop', version, node: process.versions.node },
    createdAt: new Date().toISOString(),
    seed: randomUUID(),
    model: config.agent.model,
    command: null,
    inputs: { settings },
    redact: [...redact],
  };
  const originalFetch = globalThis.fetch;
  globalThis.fetch = createModelFetch(originalFetch);
  try {
    const all = [...configuredSecrets(config), ...secrets];
    const recording = startTapeRecording({ path, header, secrets: all });
    try {
      const result = await work({
        settings,
        runtime: createRecordingRuntime(header.seed, systemRuntime),
        sessions: await openMemorySessionStore(),
        model: createTapedModel,
      });
      await recording.close(emptyRunOutputs() as TapeJson);
      return result;
    } catch (error) {
      recording.abandon();
      throw error;
    }
  } finally {
    globalThis.fetch = originalFetch;
  }
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
