import type { ChildProcess } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { type CliOptions, type CliResult, runCli } from '../support/run-cli.ts';

export interface StartedProgram {
  /** What it printed when it began to listen. */
  ready: { url: string; port: number };
  child: ChildProcess;
  /** When it ends, by whatever cause. */
  ended: Promise<CliResult>;
  /** Ctrl-C, and how it ended. */
  stop(): Promise<CliResult>;
}

/** Starts a serving command of the built program on a free port and waits until it listens. */
export async function startProgram(args: readonly string[], options: CliOptions): Promise<StartedProgram> {
  let child: ChildProcess | undefined;
  const started = Promise.withResolvers<StartedProgram['ready']>();
  let printed = '';
  const ended = runCli([...args, '--port', '0', '--json'], {
    ...options,
    onStart(running) {
      child = running;
      options.onStart?.(running);
      running.stdout?.on('data', (text: string) => {
        printed += text;
        const end = printed.indexOf('\n');
        if (end >= 0) started.resolve(JSON.parse(printed.slice(0, end)));
      });
    },
  });
  ended.then(
    ({ stdout, stderr }) => started.reject(new Error(`It ended before it listened: ${stdout}${stderr}`)),
    started.reject,
  );
  onTestFinished(async () => {
    child?.kill('SIGKILL');
    await ended;
  });
  const ready = await started.promise;
  return {
    ready,
    child: child as ChildProcess,
    ended,
    stop() {
      child?.kill('SIGINT');
      return ended;
    },
  };
}
