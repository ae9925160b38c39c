import type { ChildProcess } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { type CliOptions, type CliResult, runCli } from '../support/run-cli.ts';

export interface RunningProgram {
  /** The line it printed when it started to listen. */
  ready: { url: string; port: number };
  child: ChildProcess;
  /** Resolves when the process ends. */
  ended: Promise<CliResult>;
  /** Sends SIGINT and waits for the end. */
  stop(): Promise<CliResult>;
}

/** Starts a serving command of the built program on a free port, until the test ends. */
export async function startProgram(args: readonly string[], options: CliOptions): Promise<RunningProgram> {
  const program = await runProgram(args, options);
  onTestFinished(async () => {
    program.child.kill('SIGKILL');
    await program.ended;
  });
  return program;
}

/** The same, stopped by the caller. */
export async function runProgram(args: readonly string[], options: CliOptions): Promise<RunningProgram> {
  let child: ChildProcess | undefined;
  const started = Promise.withResolvers<RunningProgram['ready']>();
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
