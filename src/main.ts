import { hideBin } from 'yargs/helpers';
import { runCommandLine } from './cli/command-line.ts';
import { needsModel } from './cli/needs-model.ts';

/** Runs the program with the arguments of the process. */
export async function run(): Promise<void> {
  const args = hideBin(process.argv);
  if (!needsModel(args)) return runCommandLine(args);
  const { endUnusedThread, startThreadAhead } = await import('./adapters/onnx/start-model.ts');
  startThreadAhead();
  try {
    await runCommandLine(args);
  } finally {
    await endUnusedThread();
  }
}

if (import.meta.main) await run();
