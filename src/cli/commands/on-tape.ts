import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { assertOwnServices } from '../../app/own-services.ts';
import { configuredSecrets, runSettings, withoutKeys } from '../../app/run-settings.ts';
import { systemRuntime } from '../../app/system-runtime.ts';
import { type Config, loadConfig } from '../../config/load-config.ts';
import { OFFLINE_MODEL } from '../../domain/choices.ts';
import { version } from '../../package.ts';
import { type RecordingEnd, recordRun } from '../../tape/record-run.ts';
import { type ReplayingRun, replayRun } from '../../tape/replay-run.ts';
import type { OnMiss } from '../../tape/replay-tape.ts';
import { TAPE_VERSION, type TapeHeader, type TapeJson } from '../../tape/tape-format.ts';
import type { RunOnTape } from '../../tape/tape-run.ts';
import { counted } from '../../text/phrasing.ts';
import type { TapeFlags } from '../flags/common-flags.ts';
import { asSettings } from './read-flags.ts';

/** A command whose run can be recorded. */
export interface TapedCommand {
  command: string;
  /** All its flags: with the settings enough to do it again. */
  flags: object;
  /** What was asked, if that came from elsewhere. */
  question?: string;
  /** Whether it changes collections; a replay then works on one of its own. */
  writes?: boolean;
}

interface CommandOnTape extends TapedCommand {
  /** What the configuration is loaded with. */
  settings: TapeFlags & Readonly<Record<string, unknown>>;
  configPath: string | undefined;
  signal: AbortSignal;
}

/** The program as tapes name it. */
export const THIS_PROGRAM: TapeHeader['madeBy'] = { program: 'citeloop', version, node: process.version };

type Work<T> = (config: Config, run: RunOnTape) => Promise<T>;

/** Does a command's work while it is recorded, as `--record` asks for. */
export async function recordCommand<T>(run: CommandOnTape, work: Work<T>): Promise<T> {
  const { settings, configPath, signal } = run;
  const config = loadConfig({ flags: settings, configPath });
  return recordRun(
    {
      path: resolve(settings.record ?? ''),
      header: newHeader(config, run),
      secrets: configuredSecrets(config),
      clock: systemRuntime,
      signal,
      onEnd: (end) => say(sentenceOf(end)),
    },
    (recording) => work(config, recording),
  );
}

/** Does a command's work with its calls answered from a tape, as `--replay` asks for. Throws the first miss, and the failure that was recorded. */
export async function replayCommand<T>(run: CommandOnTape, work: Work<T>): Promise<T> {
  const { command, settings, configPath, signal, writes = false } = run;
  const { onMiss = 'fail', timing, redact } = settings;
  const path = resolve(settings.replay ?? '');
  const { result, misses, renewed } = await replayRun(
    {
      path,
      command,
      onMiss,
      timing,
      patterns: redact,
      secrets: secretsNow(configPath),
      signal,
      missEnds: 'run',
      renewedBy: THIS_PROGRAM,
    },
    (replaying) =>
      withReplayedConfig(replaying, { changed: given(settings), configPath, onMiss, writes }, (config) =>
        work(config, replaying),
      ),
  );
  if (renewed)
    say(`The tape is renewed: ${counted(misses.length, 'exchange was', 'exchanges were')} made anew.`);
  if ('missed' in result) throw result.missed;
  if ('failed' in result) throw result.failed;
  return result.value;
}

interface ReplayedConfigOptions {
  /** Settings that are given now, and count more than those of the tape. */
  changed: object;
  configPath: string | undefined;
  onMiss: OnMiss;
  writes: boolean;
  /** Whether only the flags of the recorded command hold, and all else is as it is configured today. */
  current?: boolean;
}

/** The configuration of the recorded run, as far as nothing else is given now. No key is needed where nobody is asked. */
export async function withReplayedConfig<T>(
  run: ReplayingRun,
  { changed, configPath, onMiss, writes, current = false }: ReplayedConfigOptions,
  work: (config: Config) => Promise<T>,
): Promise<T> {
  const recorded = current ? flaggedSettings(run) : run.settings;
  if (onMiss !== 'fail') assertOwnServices(recorded, { ...changed }, configPath);
  const loaded = loadConfig({ flags: { ...recorded, ...changed }, configPath });
  const config = onMiss === 'fail' ? withoutKeys(loaded) : loaded;
  run.noteSettings(runSettings(config));
  if (!writes) return work(config);
  // A replay that writes does so where nobody looks.
  const home = await mkdtemp(join(tmpdir(), 'citeloop-replay-'));
  try {
    return await work({ ...config, home });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** The settings that the recorded command was given as flags, and its collection: not what was configured besides. */
function flaggedSettings({ settings, header, recorded }: ReplayingRun): Record<string, TapeJson> {
  const { flags: given } = header.inputs;
  const flags = typeof given === 'object' && given !== null && !Array.isArray(given) ? given : {};
  const names = new Set(Object.keys(flags));
  if (names.has('threshold')) names.add('scoreThreshold');
  if (recorded.collection !== null) names.add('collection');
  const flagged = Object.fromEntries(Object.entries(settings).filter(([name]) => names.has(name)));
  const { systemPrompt } = flags;
  if (typeof systemPrompt !== 'string' || !isFileHere(systemPrompt)) return flagged;
  return { ...flagged, systemPrompt: asSettings({ systemPrompt }).systemPrompt ?? null };
}

/** A prompt that was read from a file is read again, but from nowhere else than below this directory: tapes may be anybody's. */
function isFileHere(prompt: string): boolean {
  const path = relative(process.cwd(), resolve(prompt.slice(1)));
  return prompt.startsWith('@') && !path.startsWith('..') && !isAbsolute(path);
}

/** The keys that are configured now, which requests may hold; what else is configured a tape says better. */
export function secretsNow(configPath: string | undefined): string[] {
  return configuredSecrets(loadConfig({ configPath }));
}

/** Flags that say how the run is shown or taped, not what is asked for. */
const NOT_ASKED = new Set([
  'record',
  'replay',
  'redact',
  'onMiss',
  'timing',
  'json',
  'verbose',
  'config',
  '$0',
  '_',
]);

/** The flags of a command as the tape keeps them: each once, under the name that the program uses. */
export function recordedFlags(flags: object): { [name: string]: TapeJson } {
  const kept = Object.entries(given(flags)).filter(
    ([name]) => /^[a-zA-Z]{2,}$/.test(name) && !NOT_ASKED.has(name),
  );
  return JSON.parse(JSON.stringify(Object.fromEntries(kept))) as { [name: string]: TapeJson };
}

function given(flags: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

function newHeader(config: Config, { command, question, flags, settings }: CommandOnTape): TapeHeader {
  const { model } = config.agent;
  const asks = command === 'ask' || command === 'chat' || command === 'eval' || command === 'compare';
  return {
    version: TAPE_VERSION,
    origin: 'recorded',
    ...(asks &&
      model === OFFLINE_MODEL && { note: 'The offline model runs in the program: it makes no calls.' }),
    madeBy: THIS_PROGRAM,
    createdAt: new Date().toISOString(),
    seed: randomUUID(),
    model: asks ? model : null,
    command,
    inputs: {
      ...(question !== undefined && { question }),
      flags: recordedFlags(flags),
      settings: {
        ...runSettings(config),
        // A search has its own, where an agent has as many as its model takes.
        ...(command === 'search' && { topK: config.searchTopK }),
      },
    },
    redact: settings.redact ?? [],
  };
}

function sentenceOf(end: RecordingEnd): string {
  if (end.type === 'abandoned')
    return `The recording was interrupted. The incomplete tape is ${end.partialPath}`;
  const { exchanges, failed, unchanged, path } = end;
  const isLocal = exchanges === 0 && !failed;
  const what = isLocal ? 'the run' : `${counted(exchanges, 'exchange')}${failed ? ' and the failure' : ''}`;
  const where = unchanged ? `; ${path} is unchanged` : ` in ${path}`;
  return `Recorded ${what}${where}${isLocal ? '; it called no service' : ''}`;
}

function say(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}
