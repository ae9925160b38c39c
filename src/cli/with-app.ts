import { type Config, loadConfig } from '../config/load-config.ts';
import { AppError } from '../domain/app-error.ts';
import { oneLine } from '../domain/visible-text.ts';
import type { Runtime } from '../ports/runtime.ts';
import { type App, wire } from '../wire.ts';
import { interruptible } from './interruptible.ts';
import { createProgressBar } from './progress-bar.ts';
import type { TapeRun } from './tape/tape-run.ts';
import type { TapedCommand } from './tape/with-tape.ts';
import type { TapeFlags } from './tape-flags.ts';

/** Flags that every command has. */
export interface CommonFlags {
  collection?: string | undefined;
  config?: string | undefined;
  json?: boolean | undefined;
  verbose?: boolean | undefined;
}

/**
 * Runs a command's work with the filled ports, a signal for Ctrl-C, and a bar while the model is fetched. One that is
 * `taped` is recorded or replayed where the flags say so.
 */
export function withApp<T>(
  { config: configPath, ...flags }: CommonFlags & TapeFlags,
  work: (app: App, signal: AbortSignal, tape: TapeRun | null) => Promise<T>,
  whenInterrupted = 'Nothing is lost: what was completed before is kept.',
  taped?: TapedCommand,
): Promise<T> {
  return interruptible(async (signal) => {
    if (taped !== undefined && (flags.record ?? flags.replay) !== undefined) {
      const { withTape } = await import('./tape/with-tape.ts');
      return withTape({ flags: { ...flags }, configPath, taped, signal }, (config, runtime, either, tape) =>
        onApp(config, { signal: either, runtime }, (app) => work(app, either, tape)),
      );
    }
    refuseTapeless(flags);
    const config = loadConfig({ flags: { ...flags }, configPath });
    return onApp(config, { signal }, (app) => work(app, signal, null));
  }, whenInterrupted);
}

/** The ports of a configuration for as long as the work takes. */
export async function onApp<T>(
  config: Config,
  options: { signal: AbortSignal; runtime?: Runtime },
  work: (app: App) => Promise<T>,
): Promise<T> {
  const fetching = createProgressBar('Fetching the embedding model (23 MB, once)');
  const app = wire(config, {
    ...options,
    onNotice: (notice) => void process.stderr.write(`${oneLine(notice, 500)}\n`),
    onFetch: (received, total) =>
      fetching.update({
        done: Math.round(received / 1e6),
        total: total && Math.round(total / 1e6),
        note: 'MB',
      }),
  });
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
