import type { Argv, Options } from 'yargs';
import { version } from '../package.ts';
import { collectionsCommand, ingestCommand } from './flags/collections.ts';
import {
  acceptedOptions,
  type CommandNode,
  createCommandNode,
  type OptionDefinition,
  optionTakesValue,
  parseCommandLine,
  resolveDefaultCommand,
} from './flags/command-definition.ts';
import { type CommonFlags, globalOptions } from './flags/common-flags.ts';
import { compareCommand, evalCommand } from './flags/evaluation.ts';
import { askCommand, chatCommand, searchCommand } from './flags/questions.ts';
import { mcpCommand, serveCommand } from './flags/servers.ts';
import { openCommand, sessionsCommand } from './flags/sessions.ts';
import {
  completionCommand,
  configCommand,
  doctorCommand,
  encodersCommand,
  trustCommand,
} from './flags/setup.ts';
import { replayCommand, tapeCommand } from './flags/tapes.ts';
import { formatCommandHelp, formatPositional, formatProgramHelp } from './help-text.ts';
import { diagnoseUsageError, isNumeric, pointToHelp } from './usage-error.ts';

export const programNode: CommandNode = createCommandNode({
  command: '',
  describe: 'Answer questions from your own documents, with checked citations.',
  options: globalOptions,
  commands: [
    ingestCommand,
    askCommand,
    chatCommand,
    searchCommand,
    sessionsCommand,
    openCommand,
    collectionsCommand,
    encodersCommand,
    replayCommand,
    tapeCommand,
    evalCommand,
    compareCommand,
    serveCommand,
    mcpCommand,
    configCommand,
    trustCommand,
    doctorCommand,
    completionCommand,
  ],
});

const MAX_HELP_WIDTH = 100;

/** Runs a command, prints its failure and sets the exit code. Never throws. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  process.stdout.on('error', ignoreClosedPipe);
  process.stderr.on('error', ignoreClosedPipe);
  try {
    if (args[0] === '--complete') {
      const { printCandidates } = await import('./commands/completion.ts');
      await printCandidates(programNode, args.slice(1));
    } else if (args[0] === 'help') printHelp(args.slice(1));
    else if (hasFlag(args, '--help', '-h')) printHelp(args);
    else if (hasFlag(args, '--version', '-v', '-V')) process.stdout.write(`${version}\n`);
    else await runCommand(args);
  } catch (error) {
    const { reportFailure } = await import('./report-failure.ts');
    const { command } = parseCommandLine(programNode, args);
    const { json } = acceptedOptions(command);
    process.exitCode = reportFailure(error, {
      // A command that writes its JSON to a file reports errors as text.
      json: hasFlag(args, '--json') && json?.type === 'boolean',
      verbose: hasFlag(args, '--verbose'),
      defaultHint: pointToHelp(command),
    });
  }
}

function printHelp(args: readonly string[]): void {
  const at = args.findIndex((word) => word === '--help' || word === '-h');
  const isAll = args[at < 0 ? args.length - 1 : at + 1] === 'all';
  const { command } = parseCommandLine(programNode, args);
  const width = Math.min(MAX_HELP_WIDTH, process.stdout.columns || MAX_HELP_WIDTH);
  process.stdout.write(
    command === programNode
      ? formatProgramHelp(programNode, width)
      : formatCommandHelp(command, width, isAll),
  );
}

/** yargs reads the flags and words of the one command that the arguments name. Throws `invalid_input`. */
async function runCommand(args: readonly string[]): Promise<void> {
  const { command: named, rest } = parseCommandLine(programNode, args);
  const { definition, positionals, options } = resolveDefaultCommand(named);
  const { handler } = definition;
  if (handler === undefined) throw diagnoseUsageError(programNode, args, 'No command is given.');
  const { default: yargs } = await import('yargs');
  const variadic = positionals.find(({ isVariadic }) => isVariadic)?.name;
  await yargs(rest)
    .command({
      command: ['$0', ...positionals.map(formatPositional)].join(' '),
      builder(parser: Argv) {
        for (const { name, choices } of positionals) {
          parser.positional(name, { type: 'string', hidden: true, ...(choices && { choices }) });
        }
        return parser.options(mapOptions(options));
      },
      async handler(flags) {
        const run = async () =>
          handler(
            variadic === undefined
              ? flags
              : // Words after `--` may begin with a dash.
                { ...flags, [variadic]: [flags[variadic] ?? [], flags['--'] ?? []].flat() },
          );
        const code = await runWithTrust(run, flags as CommonFlags);
        if (typeof code === 'number') process.exitCode = code;
      },
    })
    .strict()
    .parserConfiguration({ 'populate--': true })
    .help(false)
    .version(false)
    .exitProcess(false)
    .showHelpOnFail(false)
    .fail((message, error) => {
      const isUsage = error === undefined || error === null || error.name === 'YError';
      throw isUsage ? diagnoseUsageError(programNode, args, message) : error;
    })
    .parseAsync();
}

/** Runs a command again once the files that it was refused are trusted: by --trust, or because the user says so. */
async function runWithTrust(run: () => Promise<unknown>, flags: CommonFlags): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'UntrustedFilesError') throw error;
    const { trustRefusedFiles } = await import('./commands/trust.ts');
    await trustRefusedFiles(error, flags);
    return runWithTrust(run, flags);
  }
}

/** Hidden, because yargs composes a help text for every command that it runs. */
function mapOptions(options: Readonly<Record<string, OptionDefinition>>): Record<string, Options> {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => {
      const { type = 'string', choices, array, optionalValue, conflicts, isAdvanced: _, ...others } = option;
      return [
        name,
        {
          ...others,
          // Of two numbers, yargs adds a second 1 to the first.
          type: type === 'number' ? 'string' : type,
          hidden: true,
          ...(choices && { choices }),
          ...(conflicts && { conflicts: [conflicts].flat() }),
          ...(array ? { array, nargs: 1 } : { coerce: type === 'number' ? toNumber : lastValue }),
          requiresArg: optionTakesValue(option) && optionalValue === undefined,
        },
      ];
    }),
  );
}

/** Of a flag that is given several times, the last one counts. */
function lastValue(value: unknown): unknown {
  return [value].flat().at(-1);
}

function toNumber(value: unknown): number {
  const last = lastValue(value);
  if (!isNumeric(String(last))) throw new Error('Not a number.');
  return Number(last);
}

function hasFlag(args: readonly string[], ...names: string[]): boolean {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  return args.slice(0, end).some((word) => names.includes(word));
}

/** `citeloop search … | head` closes the pipe early, which is not an error. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}
