import { runCommandLine } from './cli/command-line.ts';

const COMMANDS_WITH_MODEL = new Set(['ask', 'chat', 'search']);
/** With one of these the embedding model is not used. */
const WITHOUT_MODEL = new Set(['-h', '--help', '-v', '--version', 'lexical', '--mode=lexical']);

/** Runs the program with the arguments of the process. */
export async function run(): Promise<void> {
  const args = process.argv.slice(2);
  if (!needsModel(args)) return runCommandLine(args);
  const { withModelThread } = await import('./app/model-thread.ts');
  await withModelThread(() => runCommandLine(args));
}

/** Whether a command line will need the embedding model: a guess by its looks, to start it before the rest is read. */
export function needsModel(args: readonly string[]): boolean {
  return COMMANDS_WITH_MODEL.has(args[0] ?? '') && !args.some((argument) => WITHOUT_MODEL.has(argument));
}

if (import.meta.main) await run();
