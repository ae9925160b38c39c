import type { AppEvent } from '../../app/app-event.ts';
import { type App, createApp } from '../../app/create-app.ts';
import { type Config, loadConfig } from '../../config/load-config.ts';
import { AppError } from '../../faults/app-error.ts';
import { exitCodeOf } from '../../faults/exit-code.ts';
import { retryNotice } from '../../faults/retry.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { Run } from '../../tape/tape-run.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { CommonFlags, TapeFlags } from '../flags/common-flags.ts';
import { createIndexingBar, createProgressBar } from '../terminal/progress.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrapping.ts';
import type { TapedCommand } from './on-tape.ts';

/** What a command says about its run besides the work itself. */
interface AppRun {
  /** Those of tapes, and those that give settings, by the names of the settings. */
  flags: CommonFlags & TapeFlags;
  /** What Ctrl-C leaves, for the person who pressed it. */
  whenInterrupted?: string;
  /** Set where the run can be recorded, and replayed. */
  taped?: TapedCommand;
  /** Judges answers in a worker thread. */
  judgeInWorker?: boolean;
}

/** Runs a command's work with the filled ports, until Ctrl-C raises the run's signal, and on a tape where the flags say so. */
export function withApp<T>(
  {
    flags: { config: configPath, ...flags },
    whenInterrupted = 'Nothing is lost: what was completed before is kept.',
    taped,
    judgeInWorker = false,
  }: AppRun,
  work: (app: App, run: Run) => Promise<T>,
): Promise<T> {
  return interruptible(async (signal) => {
    if (taped !== undefined && (flags.record ?? flags.replay) !== undefined) {
      const { recordCommand, replayCommand } = await import('./on-tape.ts');
      const onTape = flags.replay === undefined ? recordCommand : replayCommand;
      return onTape({ ...taped, settings: { ...flags }, configPath, signal }, (config, run) =>
        onApp(config, run, (app) => work(app, run)),
      );
    }
    refuseTapeless(flags);
    const config = loadConfig({ flags: { ...flags }, configPath });
    return onApp(config, { signal, judgeInWorker }, (app) => work(app, { signal, tape: null }));
  }, whenInterrupted);
}

/** The ports of a configuration for as long as the work takes. */
export async function onApp<T>(
  config: Config,
  options: { signal: AbortSignal; runtime?: Runtime; judgeInWorker?: boolean },
  work: (app: App) => Promise<T>,
): Promise<T> {
  const app = createApp(config, { ...options, onEvent: createEventPrinter() });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

/** Flags that say how, without one that says which tape. */
function refuseTapeless({ onMiss, timing, redact }: TapeFlags): void {
  const flag = onMiss ? '--on-miss' : timing ? '--timing' : redact?.length ? '--redact' : undefined;
  if (flag === undefined) return;
  throw new AppError('invalid_input', `${flag} needs a tape.`, {
    hint: flag === '--redact' ? 'Add --record <tape>.' : 'Add --replay <tape>.',
  });
}

/** Signals that come together are one: a terminal or `timeout` tells the launcher too, which passes it on. */
const TOGETHER_MS = 500;

/** Runs `work` with a signal that Ctrl-C raises. A second Ctrl-C ends the process at once. `hint` says what that left. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>, hint: string): Promise<T> {
  const controller = new AbortController();
  let first = Number.POSITIVE_INFINITY;
  const interrupt = () => {
    if (performance.now() - first > TOGETHER_MS) process.exit(exitCodeOf(controller.signal.reason));
    if (controller.signal.aborted) return;
    first = performance.now();
    controller.abort(new AppError('interrupted', 'Stopped.', { hint }));
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  try {
    return await work(controller.signal);
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}

/** Puts on stderr, in words, what happens besides what was asked for. */
function createEventPrinter(): (event: AppEvent) => void {
  const fetching = {
    weights: createProgressBar('Fetching the embedding model (20 MB, once)'),
    engine: createProgressBar('Fetching the engine that runs it (114 MB, once)'),
  };
  let sample: ReturnType<typeof createIndexingBar> | undefined;
  const say = (sentence: string) => renderText(createTerminal(process.stderr), sentence);

  return (event) => {
    switch (event.type) {
      case 'model_fetched': {
        const { part, received, total } = event;
        const megabytes = (bytes: number) => Math.round(bytes / 1e6);
        return fetching[part].update({
          done: megabytes(received),
          total: total === null ? null : megabytes(total),
          note: 'MB',
        });
      }
      case 'model_loaded':
        fetching.weights.clear();
        return fetching.engine.clear();
      case 'retry':
        return say(oneLine(retryNotice(event), 500));
      case 'only_collection':
        return say(`This is the collection ${event.name}, the only one there is.`);
      case 'sample_book':
        return say(
          'You have not indexed any documents yet, so this is the sample book. Yours: citeloop ingest <path>',
        );
      case 'sample_progress':
        // Most of the time there is nothing to index any more.
        if (event.progress.embedding === null) return;
        sample ??= createIndexingBar('Indexing the sample book');
        return sample.update(event.progress);
      case 'sample_indexed':
        return sample?.clear();
    }
  };
}
