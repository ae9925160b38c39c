import { advice, command as commandLine } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import { validated } from '../faults/validated.ts';
import { oneLine } from '../text/visible-text.ts';
import type { ReplayContext, SettingChange } from './explain-drift.ts';
import type { Tape } from './open-tape.ts';
import type { RunOnTape } from './record-run.ts';
import { type OnMiss, replayTape } from './replay-tape.ts';
import { collectionChanged, noOutputs, type RunOutputs, runOutputsSchema } from './run-outputs.ts';
import type { Timing } from './tape-exchange.ts';
import type { TapeHeader, TapeJson } from './tape-format.ts';
import type { PlayedCounts } from './tape-player.ts';
import { createTapeRun } from './tape-run.ts';

export interface ReplayRunOptions {
  path: string;
  /** The command whose work is done; a tape of another is refused. Left out, it is whichever recorded the tape. */
  command?: string | undefined;
  onMiss?: OnMiss | undefined;
  timing?: Timing | undefined;
  /** The configured keys, which requests may hold. */
  secrets: readonly string[];
  /** Further patterns of the user's. */
  patterns?: readonly string[] | undefined;
  signal: AbortSignal;
  /**
   * What a call that is not on the tape ends, unless the live service is asked: the whole run, since retries, tools
   * and rerankers would make something else of it, or the turn that made it, so that the others can be compared.
   */
  missEnds: 'run' | 'turn';
  /** What becomes of a recording that was interrupted: it is refused, or used after this was called. */
  onIncomplete: 'refuse' | (() => void);
  /** Who stands on the tape if it is renewed. */
  renewedBy: TapeHeader['madeBy'];
}

/** A run whose calls are answered from a tape. */
export interface ReplayingRun extends RunOnTape {
  readonly path: string;
  readonly header: TapeHeader;
  /** What the tape says that the run came to. */
  readonly recorded: RunOutputs;
  /** The settings of the recorded run, by the names that flags have. */
  readonly settings: Readonly<Record<string, TapeJson>>;
  /** Notes the settings that the run has now, by the same names: what is other about them may explain what comes. */
  noteSettings(settings: Readonly<Record<string, TapeJson>>): void;
}

export interface ReplayOutcome<T> {
  /**
   * What the work returned, the first miss if there was one and the live service was not asked, or what the work threw
   * where the recorded one had failed, too.
   */
  result: { value: T } | { missed: AppError } | { failed: AppError };
  header: TapeHeader;
  recorded: RunOutputs;
  /** What the run came to this time. */
  outputs: RunOutputs;
  /** What was asked for and is not on the tape, in order. */
  misses: readonly AppError[];
  /** Why the first was asked, most likely. */
  missReason: string | null;
  context: ReplayContext;
  exchanges: PlayedCounts & { recorded: number };
  renewed: boolean;
}

/**
 * Does some work with every call answered from a tape, with the clock and the ids of its recording. A miss that ended
 * the work is an outcome, and so is a failure if the recorded run failed; whatever else the work throws is thrown.
 * Throws `invalid_input` for a tape that cannot be used.
 */
export async function replayRun<T>(
  options: ReplayRunOptions,
  work: (run: ReplayingRun) => Promise<T>,
): Promise<ReplayOutcome<T>> {
  const { path, command, onMiss = 'fail', signal, missEnds } = options;
  let missed = new AbortController();
  let changedSettings: SettingChange[] = [];
  let context = (): ReplayContext => ({ changedSettings, collectionChanged: null });
  const replaying = await replayTape({
    path,
    onMiss,
    timing: options.timing,
    secrets: options.secrets,
    patterns: options.patterns,
    onMissed: (error) => (onMiss === 'fail' ? missed.abort(error) : undefined),
    renewedBy: options.renewedBy,
    context: () => context(),
  });
  try {
    const { tape, runtime } = replaying;
    const { header, count } = tape;
    if (!tape.complete && options.onIncomplete === 'refuse') throw interrupted(path);
    if (command !== undefined) refuseOtherCommand(tape, command);
    if (!tape.complete && options.onIncomplete !== 'refuse') options.onIncomplete();
    const recorded = recordedOutputs(tape);
    const outputs = noOutputs();
    const settings = recordedSettings(header, recorded);
    context = () => ({ changedSettings, collectionChanged: collectionChanged(recorded, outputs) });
    const firstMiss = () => {
      const [first] = replaying.misses();
      return first === undefined || onMiss !== 'fail' ? null : { missed: first.error };
    };
    const turnSignal = () => {
      missed = new AbortController();
      return missed.signal;
    };
    const run: ReplayingRun = {
      path,
      header,
      recorded,
      settings,
      noteSettings(now) {
        changedSettings = changesOf(settings, now);
      },
      runtime,
      signal: missEnds === 'run' ? AbortSignal.any([signal, missed.signal]) : signal,
      tape: createTapeRun({ outputs, recorded, ...(missEnds === 'turn' && { turnSignal }) }),
    };
    const result = await work(run).then(
      (value) => firstMiss() ?? { value },
      (error: unknown) => {
        if (signal.aborted) throw error;
        const miss = firstMiss();
        if (miss !== null) return miss;
        if (recorded.error === null || !(error instanceof AppError)) throw error;
        outputs.error = toErrorResponse(error);
        return { failed: error };
      },
    );
    const exchanges = { ...replaying.counts(), recorded: count };
    const { renewed } = await replaying.stop(outputs as TapeJson);
    const misses = replaying.misses().map(({ error }) => error);
    const missReason = replaying.misses()[0]?.miss?.reason ?? null;
    return {
      result,
      header,
      recorded,
      outputs,
      misses,
      missReason,
      context: context(),
      exchanges,
      renewed,
    };
  } finally {
    await replaying.stop();
  }
}

/** What the tape says that the run came to. Throws `invalid_input`. */
function recordedOutputs({ tail, path }: Tape): RunOutputs {
  return validated(runOutputsSchema, tail?.outputs ?? {}, `What ${path} says that the run came to`);
}

function recordedSettings(
  { inputs: { settings } }: TapeHeader,
  { collection }: RunOutputs,
): Record<string, TapeJson> {
  const named = typeof settings === 'object' && settings !== null && !Array.isArray(settings) ? settings : {};
  return { ...named, ...(collection !== null && { collection: collection.name }) };
}

/** On a tape only where somebody gave them. */
const ONLY_IF_GIVEN = ['topK'];

/** Of the settings that the tape knows: one that came with a later version explains nothing. */
function changesOf(
  recorded: Readonly<Record<string, TapeJson>>,
  now: Readonly<Record<string, TapeJson>>,
): SettingChange[] {
  const known = new Set([...Object.keys(recorded), ...ONLY_IF_GIVEN]);
  return [...known].flatMap((name) => {
    const before = recorded[name];
    const after = now[name];
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ name, before, after }];
  });
}

function refuseOtherCommand({ header, path }: Tape, command: string): void {
  if (header.command === null || header.command === command) return;
  const recordedBy = oneLine(header.command, 40);
  throw new AppError('invalid_input', `${path} was recorded by ${recordedBy}, not by ${command}.`, {
    hint: advice`Use it${commandLine(recordedBy, { replay: path }, ' with that command')}, or run it again${commandLine(`replay ${path}`)}`,
  });
}

function interrupted(path: string): AppError {
  return new AppError('invalid_input', `${path} is incomplete: its recording was interrupted.`, {
    hint: advice`Record it again. What is there can be looked at${commandLine(`tape show ${path}`)}`,
  });
}
