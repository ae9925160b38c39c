import type { AppEvent } from '../../app/app-event.ts';
import { type App, createApp } from '../../app/create-app.ts';
import { startTelemetry } from '../../app/start-telemetry.ts';
import type { Telemetry } from '../../app/telemetry.ts';
import { type AppConfig, loadConfig } from '../../config/load-config.ts';
import { AppError } from '../../faults/app-error.ts';
import { exitCodeOf } from '../../faults/exit-code.ts';
import { formatRetryNotice } from '../../faults/retry.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { CommandRun } from '../../tape/run-observer.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { CommonFlags, TapeFlags } from '../flags/common-flags.ts';
import { createIndexingBar, createProgressBar } from '../terminal/progress.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrap-text.ts';
import type { RecordableCommand } from './taped-command.ts';

interface AppRun {
  /** Settings by their names, and the flags of tapes. */
  flags: CommonFlags & TapeFlags;
  /** The hint after Ctrl-C: what is saved. */
  whenInterrupted?: string;
  /** Set if the command can be recorded and replayed. */
  taped?: RecordableCommand;
}

/** Runs a command with an app, which is closed afterwards. Ctrl-C aborts `run.signal`. Applies --record and --replay. */
export function withApp<T>(
  { flags: { config: configPath, ...flags }, whenInterrupted = 'Completed work is saved.', taped }: AppRun,
  work: (app: App, run: CommandRun) => Promise<T>,
): Promise<T> {
  return withInterruptSignal(async (signal) => {
    if (taped !== undefined && (flags.record ?? flags.replay) !== undefined) {
      const { runRecorded, runReplayed } = await import('./taped-command.ts');
      const onTape = flags.replay === undefined ? runRecorded : runReplayed;
      return onTape({ ...taped, settings: { ...flags }, configPath, signal }, (config, run) =>
        runOnApp(config, run, (app) => work(app, run)),
      );
    }
    refuseTapeFlags(flags);
    const config = loadConfig({ flags: { ...flags }, configPath });
    const tracing = await startTelemetry(config, printNotice);
    return runOnApp(config, { signal, telemetry: tracing?.telemetry }, (app) =>
      work(app, { signal, tape: null }),
    ).finally(async () => {
      if (tracing === null || (await tracing.flush())) return;
      printNotice('Some traces were not exported. Set OTEL_LOG_LEVEL=error to see why.');
      // An exporter that retries keeps the process alive.
      setTimeout(() => process.exit(), EXIT_AFTER_MS).unref();
    });
  }, whenInterrupted);
}

export async function runOnApp<T>(
  config: AppConfig,
  options: { signal: AbortSignal; runtime?: Runtime; telemetry?: Telemetry | undefined },
  work: (app: App) => Promise<T>,
): Promise<T> {
  const app = createApp(config, { ...options, onEvent: createEventPrinter() });
  return work(app).finally(() => app.close());
}

function refuseTapeFlags({ onMiss, timing, redact }: TapeFlags): void {
  const flag = onMiss ? '--on-miss' : timing ? '--timing' : redact?.length ? '--redact' : undefined;
  if (flag === undefined) return;
  throw new AppError('invalid_input', `${flag} needs a tape.`, {
    hint: flag === '--redact' ? 'Add --record <tape>.' : 'Add --replay <tape>.',
  });
}

/** Signals within this time count as one: a terminal signals the launcher in bin/, too, which forwards it. */
const SAME_SIGNAL_MS = 500;

/** After an interrupted command has ended, how long anything that it started may keep the process alive. */
const EXIT_AFTER_MS = 500;

/** Runs `work` with a signal that Ctrl-C aborts. A second Ctrl-C exits at once. */
export async function withInterruptSignal<T>(
  work: (signal: AbortSignal) => Promise<T>,
  hint: string,
): Promise<T> {
  const controller = new AbortController();
  let firstAt = Number.POSITIVE_INFINITY;
  const interrupt = () => {
    if (performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(exitCodeOf(controller.signal.reason));
    if (controller.signal.aborted) return;
    firstAt = performance.now();
    controller.abort(new AppError('interrupted', 'Stopped.', { hint }));
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  try {
    return await work(controller.signal);
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    if (controller.signal.aborted) setTimeout(() => process.exit(), EXIT_AFTER_MS).unref();
  }
}

const printNotice = (sentence: string) => renderText(createTerminal(process.stderr), sentence);

function createEventPrinter(): (event: AppEvent) => void {
  const downloads = {
    weights: createProgressBar('Downloading the search model (only once)', ' MB'),
    engine: createProgressBar('Downloading the runtime of the model (only once)', ' MB'),
  };
  let sample: ReturnType<typeof createIndexingBar> | undefined;
  const megabytes = (bytes: number) => Math.round(bytes / 1e6);

  return (event) => {
    switch (event.type) {
      case 'model_download_progress': {
        const { part, received, total } = event;
        const size = total === null ? null : megabytes(total);
        return downloads[part].update({ done: megabytes(received), total: size });
      }
      case 'model_download_ended':
        downloads.weights.clear();
        return downloads.engine.clear();
      case 'retry':
        return printNotice(oneLine(formatRetryNotice(event), 500));
      case 'file_upgraded':
        return printNotice(
          `Upgraded ${event.path} for this version of citeloop. The file before is ${event.backup}; delete it if you do not need it.`,
        );
      case 'default_collection':
        return printNotice(`Using the collection ${event.name}.`);
      case 'no_word_vectors':
        return printNotice(`Run "citeloop ingest" again to add reranking to ${event.collection}.`);
      case 'sample_book':
        return printNotice('No documents indexed: using the sample book. Add yours: citeloop ingest <path>');
      case 'sample_progress':
        // Null if the sample is indexed already.
        if (event.progress.embedding === null) return;
        sample ??= createIndexingBar('Indexing the sample book');
        return sample.update(event.progress);
      case 'sample_indexed':
        return sample?.clear();
    }
  };
}
