import { Readable, Writable } from 'node:stream';
import { ensureEngine } from '../../src/adapters/onnx/engine.ts';
import { startModelPool } from '../../src/adapters/onnx/model-pool.ts';
import { modelThreads } from '../../src/app/model-thread.ts';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { modelLocation } from './model-weights.ts';
import { type CliOptions, type CliResult, environmentOf } from './run-cli.ts';

/** What this process lends to a command, and has back afterwards. */
const LENT = ['stdin', 'stdout', 'stderr'] as const;

/** Held, so that the commands share it and it is loaded once: for questions, and for documents. */
let model: Promise<unknown> | undefined;

export type InProcessOptions = Pick<CliOptions, 'home' | 'cwd' | 'env' | 'input'>;

let running: readonly string[] | null = null;

/**
 * What the program comes to, like `runCli` but in this process, which takes a tenth of the time: for what is said and
 * what becomes of it, not for how the program starts, is stopped, or shares files with another. One at a time, as all
 * it has of its own is lent by this process: directory, environment, streams and exit code.
 */
export async function runInProcess(
  args: readonly string[],
  { home, cwd = home, env = {}, input = '' }: InProcessOptions,
): Promise<CliResult> {
  if (running !== null) throw new Error(`citeloop ${running.join(' ')} is still running in this process.`);
  running = args;
  model ??= holdModel();
  await model;
  const before = { cwd: process.cwd(), env: { ...process.env }, exitCode: process.exitCode };
  const lent = LENT.map((name) => [name, Object.getOwnPropertyDescriptor(process, name)] as const);
  const [stdout, stderr] = [collector(), collector()];
  try {
    process.chdir(cwd);
    replaceEnvironment(environmentOf(home, env));
    process.exitCode = undefined;
    lend('stdin', Readable.from(input === '' ? [] : [input]));
    lend('stdout', stdout.stream);
    lend('stderr', stderr.stream);
    await runCommandLine(args);
    return { code: Number(process.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    for (const [name, descriptor] of lent) Object.defineProperty(process, name, descriptor ?? {});
    process.exitCode = before.exitCode;
    replaceEnvironment(before.env);
    process.chdir(before.cwd);
    running = null;
  }
}

async function holdModel(): Promise<void> {
  const { directory } = modelLocation();
  const engine = await ensureEngine(modelLocation(), {});
  const source = { engine, weights: { directory }, pooling: 'mean' as const };
  await Promise.all([false, true].map((bulk) => startModelPool(modelThreads, { ...source, bulk })));
}

function lend(name: (typeof LENT)[number], stream: Readable | Writable): void {
  Object.defineProperty(process, name, { configurable: true, value: stream });
}

function collector() {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write(part: Buffer, _, done) {
      parts.push(part);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(parts).toString() };
}

/** Name by name: the directory of the user is asked of the real one. */
function replaceEnvironment(next: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in next)) delete process.env[name];
  Object.assign(process.env, next);
}
