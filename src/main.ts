import { runCommandLine } from './cli/command-line.ts';

const COMMANDS_WITH_MODEL = new Set(['ask', 'chat', 'search']);
/** Arguments with which a command does not use the embedding model. */
const WITHOUT_MODEL = new Set(['-h', '--help', '-v', '--version', 'lexical', '--mode=lexical']);

/** Starts the thread of the embedding model before the command is loaded, if the command needs it. */
export async function runProgram(): Promise<void> {
  const args = process.argv.slice(2);
  if (!needsEmbeddingModel(args)) return runCommandLine(args);
  const { withModelThread } = await import('./app/model-thread.ts');
  await withModelThread(() => runCommandLine(args));
}

/** A guess without parsing; a wrong one only costs time. */
export function needsEmbeddingModel(args: readonly string[]): boolean {
  return COMMANDS_WITH_MODEL.has(args[0] ?? '') && !args.some((argument) => WITHOUT_MODEL.has(argument));
}

if (import.meta.main) await runProgram();
