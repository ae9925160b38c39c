import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { endWithParent } from './end-with-parent.ts';
import { modelLocation } from './model-weights.ts';

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  home: string;
  cwd?: string;
  env?: Record<string, string>;
  input?: string;
  /** Options of Node. */
  nodeFlags?: readonly string[];
  /** Leaves stdin open; `onStart` must end it. */
  keepInputOpen?: boolean;
  /** Receives the running process. */
  onStart?: (child: ChildProcess) => void;
}

export const PROGRAM_PATH = join(import.meta.dirname, '../../bin/citeloop.js');

/** The environment of a program that uses `home` and none of this machine's settings. */
export function createCliEnvironment(home: string, env: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    CITELOOP_HOME: home,
    CITELOOP_MODEL_DIR: modelLocation().directory,
    ...env,
  };
}

/** Runs the built program with `home` and none of this machine's settings. */
export function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const child = endWithParent(
    spawn(process.execPath, [...(options.nodeFlags ?? []), PROGRAM_PATH, ...args], {
      cwd: options.cwd ?? options.home,
      env: createCliEnvironment(options.home, options.env),
    }),
  );
  const result: CliResult = { code: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    result.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    result.stderr += text;
  });
  if (!options.keepInputOpen) child.stdin.end(options.input ?? '');
  options.onStart?.(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...result, code }));
  });
}
