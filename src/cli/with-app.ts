import { loadConfig } from '../config/load-config.ts';
import { oneLine } from '../domain/visible-text.ts';
import { type App, wire } from '../wire.ts';
import { interruptible } from './interruptible.ts';
import { createProgressBar } from './progress-bar.ts';

/** Flags that every command has. */
export interface CommonFlags {
  collection?: string | undefined;
  config?: string | undefined;
  json?: boolean | undefined;
  verbose?: boolean | undefined;
}

/** Runs a command's work with the filled ports, a signal for Ctrl-C, and a bar while the model is fetched. */
export function withApp<T>(
  { config: configPath, ...flags }: CommonFlags,
  work: (app: App, signal: AbortSignal) => Promise<T>,
  whenInterrupted = 'Nothing is lost: what was completed before is kept.',
): Promise<T> {
  return interruptible(async (signal) => {
    const config = loadConfig({ flags: { ...flags }, configPath });
    const fetching = createProgressBar('Fetching the embedding model (23 MB, once)');
    const app = wire(config, {
      signal,
      onNotice: (notice) => void process.stderr.write(`${oneLine(notice, 500)}\n`),
      onFetch: (received, total) =>
        fetching.update({
          done: Math.round(received / 1e6),
          total: total && Math.round(total / 1e6),
          note: 'MB',
        }),
    });
    try {
      return await work(app, signal);
    } finally {
      await app.close();
    }
  }, whenInterrupted);
}
