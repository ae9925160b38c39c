const COMMANDS = new Set(['ask', 'chat', 'search']);
/** With one of these the embedding model is not used. */
const WITHOUT = new Set(['-h', '--help', '-v', '--version', 'lexical', '--mode=lexical']);

/** Whether a command line will need the embedding model: a guess by its looks, to start it before the rest is read. */
export function needsModel(args: readonly string[]): boolean {
  return COMMANDS.has(args[0] ?? '') && !args.some((argument) => WITHOUT.has(argument));
}
