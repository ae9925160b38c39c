import { advice, viaCommand as commandLine } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import { parseOrThrow } from '../faults/parse-or-throw.ts';
import { oneLine } from '../text/visible-text.ts';
import type { ReplayCounts } from './exchange-finder.ts';
import type { ReplayContext, SettingChange } from './explain-drift.ts';
import { assertComplete, type Tape } from './read-tape.ts';
import { type ReplayTapeOptions, startTapeReplay } from './replay-tape.ts';
import { createRunObserver, type TapedRun } from './run-observer.ts';
import { emptyRunOutputs, type RunOutputs, runOutputsSchema } from './run-outputs.ts';
import { type TapeHeader, type TapeJson, toJsonObject } from './tape-format.ts';

export interface ReplayRunOptions
  extends Pick<ReplayTapeOptions, 'path' | 'onMiss' | 'timing' | 'secrets' | 'patterns' | 'renewedBy'> {
  /** The command that must have recorded the tape; any if not set. */
  command?: string | undefined;
  signal: AbortSignal;
  /**
   * What a miss aborts: the whole run, because retries, tools and rerankers would go on with wrong data, or only its
   * turn, so that the other turns can be compared.
   */
  missEnds: 'run' | 'turn';
}

export interface ReplayedRun extends TapedRun {
  readonly path: string;
  readonly header: TapeHeader;
  readonly recorded: RunOutputs;
  /** The settings of the recorded run, named like the flags. */
  readonly settings: Readonly<Record<string, TapeJson>>;
  /** Sets the current settings, whose changes may explain a miss. */
  noteSettings(settings: Readonly<Record<string, TapeJson>>): void;
}

export interface ReplayOutcome<T> {
  /** `missed` is the first miss, with `onMiss: 'fail'`; `failed` is an error of a run whose recording failed too. */
  result: { value: T } | { missed: AppError } | { failed: AppError };
  header: TapeHeader;
  recorded: RunOutputs;
  outputs: RunOutputs;
  misses: readonly AppError[];
  /** The likely reason of the first miss. */
  missReason: string | null;
  context: ReplayContext;
  exchanges: ReplayCounts & { recorded: number };
  renewed: boolean;
}

/**
 * Runs `work` with every request answered from a tape, with the clock and ids of the recording. Throws `invalid_input`
 * for a tape that cannot be used, and what `work` throws unless it is a miss or the recorded run failed as well.
 */
export async function replayRun<T>(
  options: ReplayRunOptions,
  work: (run: ReplayedRun) => Promise<T>,
): Promise<ReplayOutcome<T>> {
  const { path, command, onMiss = 'fail', signal, missEnds } = options;
  const outputs = emptyRunOutputs();
  let recorded = emptyRunOutputs();
  let missed = new AbortController();
  let changedSettings: SettingChange[] = [];
  const context = (): ReplayContext => ({
    changedSettings,
    collectionChanged: collectionChanged(recorded, outputs),
  });
  const replay = await startTapeReplay({
    ...options,
    onMissed: (error) => (onMiss === 'fail' ? missed.abort(error) : undefined),
    context,
  });
  try {
    const { tape, runtime } = replay;
    const { header } = tape;
    assertRunnable(tape, command);
    recorded = parseOrThrow(runOutputsSchema, tape.outputs ?? {}, `The "outputs" field of ${path}`);
    const { collection } = recorded;
    const settings = {
      ...toJsonObject(header.inputs.settings),
      ...(collection && { collection: collection.name }),
    };
    const firstMiss = () => {
      const [first] = replay.misses();
      return first === undefined || onMiss !== 'fail' ? null : { missed: first.error };
    };
    const turnSignal = () => {
      missed = new AbortController();
      return missed.signal;
    };
    const run: ReplayedRun = {
      path,
      header,
      recorded,
      settings,
      noteSettings(now) {
        changedSettings = diffSettings(settings, now);
      },
      runtime,
      signal: missEnds === 'run' ? AbortSignal.any([signal, missed.signal]) : signal,
      tape: createRunObserver(outputs, recorded, missEnds === 'turn' ? turnSignal : undefined),
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
    const { renewed } = await replay.stop(outputs as TapeJson);
    return {
      result,
      header,
      recorded,
      outputs,
      misses: replay.misses().map(({ error }) => error),
      missReason: replay.misses()[0]?.reason ?? null,
      context: context(),
      exchanges: { ...replay.counts(), recorded: tape.exchanges.length },
      renewed,
    };
  } finally {
    await replay.stop();
  }
}

/** Null if one of the two is unknown. */
function collectionChanged(recorded: RunOutputs, replayed: RunOutputs): boolean | null {
  if (recorded.collection === null || replayed.collection === null) return null;
  return recorded.collection.fingerprint !== replayed.collection.fingerprint;
}

/** Settings that a tape contains only if they were set. */
const OPTIONAL_SETTINGS = ['topK'];

/** Settings that the tape does not know, because they were added later, are left out. */
function diffSettings(
  recorded: Readonly<Record<string, TapeJson>>,
  now: Readonly<Record<string, TapeJson>>,
): SettingChange[] {
  return [...new Set([...Object.keys(recorded), ...OPTIONAL_SETTINGS])]
    .map((name) => ({ name, before: recorded[name], after: now[name] }))
    .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
}

function assertRunnable(tape: Tape, command: string | undefined): void {
  assertComplete(tape);
  const { header, path } = tape;
  if (command === undefined || header.command === null || header.command === command) return;
  const recordedBy = oneLine(header.command, 40);
  throw new AppError('invalid_input', `${path} was recorded by ${recordedBy}, not by ${command}.`, {
    hint: advice`Use it${commandLine(recordedBy, { replay: path }, ' with that command')}, or run it again${commandLine(`replay ${path}`)}`,
  });
}
