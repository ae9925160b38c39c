import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { assertConfiguredServices } from '../../app/configured-services.ts';
import { configuredSecrets, toRunSettings, withPlaceholderKeys } from '../../app/run-settings.ts';
import { systemRuntime } from '../../app/system-runtime.ts';
import { type AppConfig, loadConfig } from '../../config/load-config.ts';
import { OFFLINE_MODEL } from '../../domain/setting-choices.ts';
import { version } from '../../package.ts';
import { type RecordingResult, recordRun } from '../../tape/record-run.ts';
import { type ReplayedRun, replayRun } from '../../tape/replay-run.ts';
import type { OnMiss } from '../../tape/replay-tape.ts';
import type { TapedRun } from '../../tape/run-observer.ts';
import { TAPE_VERSION, type TapeHeader, type TapeJson, toJsonObject } from '../../tape/tape-format.ts';
import { formatCount } from '../../text/format-count.ts';
import type { TapeFlags } from '../flags/common-flags.ts';
import { toSettings } from './read-flags.ts';

export interface RecordableCommand {
  command: string;
  /** All its flags. Together with the settings they suffice to run it again. */
  flags: object;
  /** Set if the question does not come from the flags. */
  question?: string;
  /** Whether it changes collections. Its replay then uses a temporary home directory. */
  writes?: boolean;
}

interface TapedCommandRun extends RecordableCommand {
  settings: TapeFlags & Readonly<Record<string, unknown>>;
  configPath: string | undefined;
  signal: AbortSignal;
}

const CURRENT_PROGRAM: TapeHeader['madeBy'] = { program: 'citeloop', version, node: process.version };

type Work<T> = (config: AppConfig, run: TapedRun) => Promise<T>;

/** Implements `--record`. */
export async function runRecorded<T>(run: TapedCommandRun, work: Work<T>): Promise<T> {
  const { settings, configPath, signal } = run;
  const config = loadConfig({ flags: settings, configPath });
  return recordRun(
    {
      path: resolve(settings.record ?? ''),
      header: createHeader(config, run),
      secrets: configuredSecrets(config),
      clock: systemRuntime,
      signal,
      onEnd: (end) => process.stderr.write(`${formatRecordingEnd(end)}\n`),
    },
    (recording) => work(config, recording),
  );
}

/** Implements `--replay`. Throws the first miss, and the error of a run whose recording failed. */
export async function runReplayed<T>(run: TapedCommandRun, work: Work<T>): Promise<T> {
  const { command, settings, configPath, signal, writes = false } = run;
  const { onMiss = 'fail' } = settings;
  const path = resolve(settings.replay ?? '');
  // An evaluation lists all cases that need a new recording.
  const missEnds = command === 'eval' || command === 'compare' ? 'turn' : 'run';
  const { result, misses, renewed } = await replayRun(
    { ...toReplayOptions(settings, configPath), path, command, signal, missEnds },
    (replaying) => {
      const options = { changed: definedFlags(settings), configPath, onMiss, writes };
      return withReplayedConfig(replaying, options, (config) => work(config, replaying));
    },
  );
  if (renewed) process.stderr.write(`Updated the tape with ${formatCount(misses.length, 'new exchange')}.\n`);
  if ('missed' in result) throw result.missed;
  if ('failed' in result) throw result.failed;
  return result.value;
}

export function toReplayOptions({ onMiss, timing, redact }: TapeFlags, configPath: string | undefined) {
  const secrets = configuredSecrets(loadConfig({ configPath, whenUntrusted: 'ignore' }));
  return { onMiss, timing, patterns: redact, secrets, renewedBy: CURRENT_PROGRAM };
}

interface ReplayedConfigOptions {
  changed: object;
  configPath: string | undefined;
  onMiss: OnMiss;
  writes: boolean;
  /** Whether to use the current settings, except for the flags of the recorded command. */
  current?: boolean;
}

/** Runs `work` with the settings of the recorded run. With `onMiss: 'fail'` it needs no keys. */
export async function withReplayedConfig<T>(
  run: ReplayedRun,
  { changed, configPath, onMiss, writes, current = false }: ReplayedConfigOptions,
  work: (config: AppConfig) => Promise<T>,
): Promise<T> {
  // A tape may come from anyone, and no run records these.
  const { home: _, modelDir: __, ...recorded } = current ? flagSettings(run) : run.settings;
  if (onMiss !== 'fail') assertConfiguredServices(recorded, { ...changed }, configPath);
  const tape = { path: run.path, fields: recorded };
  const loaded = loadConfig({ flags: { ...changed }, tape, configPath });
  const config = onMiss === 'fail' ? withPlaceholderKeys(loaded) : loaded;
  run.noteSettings(toRunSettings(config));
  if (!writes) return work(config);
  const home = await mkdtemp(join(tmpdir(), 'citeloop-replay-'));
  try {
    return await work({ ...config, home });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** The settings that were flags of the recorded command, and its collection. */
function flagSettings({ settings, header, recorded }: ReplayedRun): Record<string, TapeJson> {
  const flags = toJsonObject(header.inputs.flags);
  const names = new Set(Object.keys(flags));
  if (names.has('threshold')) names.add('scoreThreshold');
  if (recorded.collection !== null) names.add('collection');
  const flagged = Object.fromEntries(Object.entries(settings).filter(([name]) => names.has(name)));
  const { systemPrompt } = flags;
  if (typeof systemPrompt !== 'string' || !isLocalPromptFile(systemPrompt)) return flagged;
  return { ...flagged, systemPrompt: toSettings({ systemPrompt }).systemPrompt ?? null };
}

/** A prompt file is read again only below the working directory, since a tape may come from anyone. */
function isLocalPromptFile(prompt: string): boolean {
  const path = relative(process.cwd(), resolve(prompt.slice(1)));
  return prompt.startsWith('@') && !path.startsWith('..') && !isAbsolute(path);
}

/** Flags that do not affect the requests of a run. */
const UNRECORDED_FLAGS = new Set([
  'record',
  'replay',
  'redact',
  'onMiss',
  'timing',
  'json',
  'verbose',
  'trust',
  'config',
  '$0',
  '_',
]);

/** The flags that a tape keeps: without aliases and flags in kebab case. */
export function toRecordedFlags(flags: object): { [name: string]: TapeJson } {
  const kept = Object.entries(definedFlags(flags)).filter(
    ([name]) => /^[a-zA-Z]{2,}$/.test(name) && !UNRECORDED_FLAGS.has(name),
  );
  return JSON.parse(JSON.stringify(Object.fromEntries(kept))) as { [name: string]: TapeJson };
}

function definedFlags(flags: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

function createHeader(
  config: AppConfig,
  { command, question, flags, settings }: TapedCommandRun,
): TapeHeader {
  const { model } = config.agent;
  const usesModel = ['ask', 'chat', 'eval', 'compare'].includes(command);
  return {
    version: TAPE_VERSION,
    origin: 'recorded',
    ...(usesModel && model === OFFLINE_MODEL && { note: 'The offline model makes no requests.' }),
    madeBy: CURRENT_PROGRAM,
    createdAt: new Date().toISOString(),
    seed: randomUUID(),
    model: usesModel ? model : null,
    command,
    inputs: {
      ...(question !== undefined && { question }),
      flags: toRecordedFlags(flags),
      settings: {
        ...toRunSettings(config),
        // The default number of results of a search differs from that of an agent.
        ...(command === 'search' && { topK: config.searchTopK }),
      },
    },
    redact: settings.redact ?? [],
  };
}

function formatRecordingEnd(end: RecordingResult): string {
  if (end.type === 'abandoned')
    return `The recording was interrupted. The incomplete tape is ${end.partialPath}`;
  const { exchanges, failed, unchanged, path } = end;
  const isLocal = exchanges === 0 && !failed;
  const what = isLocal
    ? 'the run'
    : `${formatCount(exchanges, 'exchange')}${failed ? ' and the failure' : ''}`;
  const where = unchanged ? `; ${path} is unchanged` : ` in ${path}`;
  return `Recorded ${what}${where}${isLocal ? ' (no service calls).' : '.'}`;
}
