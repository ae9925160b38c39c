import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Config, loadConfig } from '../../config/load-config.ts';
import { OFFLINE_MODEL } from '../../domain/agent-config.ts';
import { AppError } from '../../domain/app-error.ts';
import { toErrorResponse } from '../../domain/error-response.ts';
import { validated } from '../../domain/validated.ts';
import { oneLine } from '../../domain/visible-text.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { systemRuntime } from '../../system-runtime.ts';
import { recordTape } from '../../tape/record-tape.ts';
import { createRecordingRuntime } from '../../tape/replay-runtime.ts';
import { type ReplayingTape, replayTape } from '../../tape/replay-tape.ts';
import { noOutputs, type RunOutputs, runOutputsSchema } from '../../tape/run-outputs.ts';
import type { TapeHeader, TapeJson } from '../../tape/tape-format.ts';
import { version } from '../../version.ts';
import type { TapeFlags } from '../tape-flags.ts';
import { configuredSecrets, runSettings, withoutKeys } from './run-settings.ts';
import { createTapeRun, type TapeRun } from './tape-run.ts';

/** A command whose run can be recorded. */
export interface TapedCommand {
  command: string;
  /** What the run was asked for: enough, with the settings, to do it again. */
  inputs: { [name: string]: TapeJson };
  /** Whether it changes collections; a replay then works on one of its own. */
  writes?: boolean;
}

export interface TapedRun {
  flags: TapeFlags & Readonly<Record<string, unknown>>;
  configPath: string | undefined;
  taped: TapedCommand;
  signal: AbortSignal;
}

type Work<T> = (config: Config, runtime: Runtime, signal: AbortSignal, tape: TapeRun) => Promise<T>;

/** Runs a command's work while it is recorded, or with its calls answered from a tape. */
export function withTape<T>(run: TapedRun, work: Work<T>): Promise<T> {
  return run.flags.replay === undefined ? recordRun(run, work) : replayRun(run, work);
}

async function recordRun<T>({ flags, configPath, taped, signal }: TapedRun, work: Work<T>): Promise<T> {
  const config = loadConfig({ flags, configPath });
  const path = resolve(flags.record ?? '');
  const header = newHeader(config, taped, flags.redact ?? []);
  const recording = await recordTape({ path, header, secrets: configuredSecrets(config) });
  const outputs = noOutputs();
  const tape = createTapeRun(outputs, null);
  let result: T;
  try {
    result = await work(config, createRecordingRuntime(header.seed, systemRuntime), signal, tape);
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'interrupted' || signal.aborted) {
      await recording.abandon();
      say(`The recording is incomplete; what there is of it is in ${recording.partialPath}`);
    } else {
      // That it failed is what the run came to.
      outputs.error = toErrorResponse(error);
      await recording.finish(outputs as TapeJson);
      say(`Recorded ${counted(recording.count())} and the failure in ${path}`);
    }
    throw error;
  }
  await recording.finish(outputs as TapeJson);
  say(`Recorded ${counted(recording.count())} in ${path}`);
  return result;
}

async function replayRun<T>(run: TapedRun, work: Work<T>): Promise<T> {
  const { flags, configPath, taped, signal } = run;
  const missed = new AbortController();
  const onMiss = flags.onMiss ?? 'fail';
  // The keys that are configured now may stand in requests; what else is configured the tape says better.
  const secrets = configuredSecrets(loadConfig({ flags: {}, configPath }));
  const replaying = await replayTape({
    path: resolve(flags.replay ?? ''),
    onMiss,
    timing: flags.timing,
    secrets,
    patterns: flags.redact,
    // Retries, tools and rerankers would make something else of it: the whole run stops.
    onMissed: (_miss, error) => (onMiss === 'fail' ? missed.abort(error) : undefined),
    renewedHeader: (header) => ({ ...header, madeBy: madeBy(), createdAt: new Date().toISOString() }),
  });
  const outputs = noOutputs();
  let result: T;
  try {
    const recorded = recordedOutputs(replaying, taped.command);
    const given = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
    const loaded = loadConfig({ flags: { ...settingsOf(replaying, recorded), ...given }, configPath });
    const config = onMiss === 'fail' ? withoutKeys(loaded) : loaded;
    const tape = createTapeRun(outputs, recorded);
    const both = AbortSignal.any([signal, missed.signal]);
    result = await inOwnHome(taped.writes === true, config, (home) =>
      work({ ...config, home }, replaying.runtime, both, tape),
    );
  } catch (error) {
    await replaying.stop();
    throw firstMiss(replaying, onMiss) ?? error;
  }
  const misses = replaying.misses().length;
  const { renewed } = await replaying.stop(outputs as TapeJson);
  if (renewed) say(`The tape is renewed: ${counted(misses)} ${misses === 1 ? 'was' : 'were'} made anew.`);
  const miss = firstMiss(replaying, onMiss);
  if (miss !== null) throw miss;
  return result;
}

/** What the tape says the run came to. Throws `invalid_input` if it is the tape of another command. */
export function recordedOutputs({ tape }: Pick<ReplayingTape, 'tape'>, command: string): RunOutputs {
  const { header, tail, complete, path } = tape;
  if (header.command !== null && header.command !== command) {
    throw new AppError(
      'invalid_input',
      `${path} was recorded by ${oneLine(header.command, 40)}, not by ${command}.`,
      {
        hint: `Use it with: citeloop ${oneLine(header.command, 40)} --replay, or citeloop replay`,
      },
    );
  }
  if (!complete) say(`${path} is incomplete: its recording was interrupted.`);
  return validated(runOutputsSchema, tail?.outputs ?? {}, `What ${path} says that the run came to`);
}

/** The settings of the recorded run, below those that were given. */
export function settingsOf(
  { tape }: Pick<ReplayingTape, 'tape'>,
  { collection }: RunOutputs,
): Record<string, unknown> {
  const { settings } = tape.header.inputs;
  const named = typeof settings === 'object' && settings !== null && !Array.isArray(settings) ? settings : {};
  return { ...named, ...(collection !== null && { collection: collection.name }) };
}

function firstMiss(replaying: ReplayingTape, onMiss: string): AppError | null {
  const [first] = replaying.misses();
  return first === undefined || onMiss !== 'fail' ? null : first.error;
}

/** A replay that writes does so where nobody looks. */
async function inOwnHome<T>(own: boolean, { home }: Config, work: (home: string) => Promise<T>): Promise<T> {
  if (!own) return work(home);
  const directory = await mkdtemp(join(tmpdir(), 'citeloop-replay-'));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function newHeader(config: Config, { command, inputs }: TapedCommand, redact: string[]): TapeHeader {
  const { model } = config.agent;
  const asks = command === 'ask' || command === 'chat' || command === 'eval' || command === 'compare';
  return {
    version: 1,
    origin: 'recorded',
    ...(asks &&
      model === OFFLINE_MODEL && { note: 'The offline model runs in the program: it makes no calls.' }),
    madeBy: madeBy(),
    createdAt: new Date().toISOString(),
    seed: randomUUID(),
    model: asks ? model : null,
    command,
    inputs: { ...inputs, settings: runSettings(config) },
    redact,
  };
}

function madeBy(): TapeHeader['madeBy'] {
  return { program: 'citeloop', version, node: process.version };
}

function counted(exchanges: number): string {
  return exchanges === 1 ? '1 exchange' : `${exchanges} exchanges`;
}

function say(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}
