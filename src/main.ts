import { hideBin } from 'yargs/helpers';
import { runCommandLine } from './cli/command-line.ts';

/** Runs the program with the arguments of the process. */
export function run(): Promise<void> {
  return runCommandLine(hideBin(process.argv));
}

if (import.meta.main) await run();
