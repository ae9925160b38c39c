import yargs, { type CommandModule } from 'yargs';
import { version } from '../package.ts';
import type { CompletionFlags } from './commands/completion.ts';
import { agentOptions } from './flags/agent-flags.ts';
import { collectionsCommand, ingestCommand } from './flags/collections.ts';
import { type CommonFlags, commonOptions, withServiceFlags } from './flags/common-flags.ts';
import { configCommand } from './flags/config.ts';
import { defineCommand } from './flags/define-command.ts';
import { compareCommand, evalCommand } from './flags/evaluation.ts';
import { type CommandOutline, outlineProgram, readTyped } from './flags/outline.ts';
import { askCommand, chatCommand, searchCommand } from './flags/questions.ts';
import { mcpCommand, serveCommand } from './flags/servers.ts';
import { openCommand, sessionsCommand } from './flags/sessions.ts';
import { replayCommand, tapeCommand } from './flags/tapes.ts';
import { commandHelp, programHelp } from './help-text.ts';
import { usageFault, wrongNumber } from './usage-fault.ts';

const doctorCommand = defineCommand<CommonFlags>({
  command: 'doctor',
  describe: 'Check the installation, the collections and the services',
  builder: (yargs) =>
    withServiceFlags(yargs, 'provider', 'store', 'rerank')
      .options({ model: agentOptions.model, 'base-url': agentOptions['base-url'], api: agentOptions.api })
      .example('$0 doctor', 'Every check, with what to do about each that fails')
      .example('$0 doctor --provider ollama --model qwen3', 'What a model can do, by one tiny call')
      .example('$0 doctor --json', 'For programs'),
  handler: async (flags) => {
    process.exitCode = await (await import('./commands/doctor.ts')).runDoctor(flags);
  },
});

const completionCommand = defineCommand<CompletionFlags>({
  command: 'completion <shell>',
  describe: 'Print what makes Tab work in bash, zsh or fish',
  builder: (yargs) =>
    yargs
      .positional('shell', { choices: ['bash', 'zsh', 'fish'] as const, describe: 'The shell' })
      .example('$0 completion bash >> ~/.bashrc', 'From the next shell on')
      .example('source <($0 completion zsh)', 'In this one'),
  handler: async (flags) => (await import('./commands/completion.ts')).printCompletion(flags),
});

const manualCommand = defineCommand<CommonFlags>({
  command: 'manual',
  describe: 'Print the manual page',
  builder: (yargs) => yargs.example('$0 manual | man -l -', 'Read it'),
  handler: async () => {
    const { manualPage } = await import('./commands/manual.ts');
    process.stdout.write(manualPage(outline(), version));
  },
});

const COMMANDS: Pick<CommandModule, 'command'>[] = [
  askCommand,
  chatCommand,
  ingestCommand,
  searchCommand,
  replayCommand,
  tapeCommand,
  sessionsCommand,
  openCommand,
  collectionsCommand,
  evalCommand,
  compareCommand,
  serveCommand,
  mcpCommand,
  configCommand,
  doctorCommand,
  completionCommand,
  manualCommand,
];

const DESCRIPTION = 'Answers questions from your own documents, with citations that were checked.';

/** All that the program says of itself. */
export function outline(): CommandOutline {
  return outlineProgram(COMMANDS as CommandModule[], commonOptions, DESCRIPTION);
}

/** The one place where failures end up: prints them and sets the exit code. Never throws. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  process.stdout.on('error', ignoreClosedPipe);
  process.stderr.on('error', ignoreClosedPipe);
  try {
    if (args[0] === '--complete') {
      return await (await import('./commands/completion.ts')).printCandidates(outline(), args.slice(1));
    }
    if (asksForHelp(args)) {
      const { paged } = await import('./terminal/paged.ts');
      return await paged(process, (terminal) => terminal.write(helpFor(args)));
    }
    const program = outline();
    const refused = wrongNumber(program, args);
    if (refused !== null) throw refused;
    const parser = yargs(withDashesBehind(withRerankSpelled(args)))
      .scriptName('citeloop')
      .command(COMMANDS as CommandModule[])
      .strict()
      .parserConfiguration({ 'populate--': true })
      .options({
        ...commonOptions,
        // These two write it to a file of that name.
        json: { ...commonOptions.json, type: writesReport(args) ? 'string' : 'boolean' },
      })
      .help(false)
      .version(version)
      .alias({ version: 'v' })
      .exitProcess(false)
      .showHelpOnFail(false)
      .fail((message, error) => {
        throw isUsageFault(error) ? usageFault(program, args, message) : error;
      });
    // It makes a help text for every command that runs, which nobody sees: the less there is in it, the sooner it runs.
    const { options, positionals } = readTyped(program, args).command;
    for (const { name } of [...options, ...positionals]) parser.hide(name);
    await parser.wrap(null).parseAsync();
  } catch (error) {
    const { reportFailure } = await import('./report-failure.ts');
    process.exitCode = reportFailure(error, {
      json: args.includes('--json') && !writesReport(args),
      verbose: await isVerbose(args),
    });
  }
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  return args[0] === 'help' || args.slice(0, end).some((word) => word === '--help' || word === '-h');
}

/** The help of the command that the arguments reach, for the width of the screen. */
function helpFor(args: readonly string[]): string {
  const program = outline();
  const { command } = readTyped(program, args[0] === 'help' ? args.slice(1) : args);
  const width = Math.min(100, process.stdout.columns || 100);
  return command === program ? programHelp(program, width) : commandHelp(command, width);
}

/** By the flag, or else as configured; a configuration that cannot be read says nothing. */
async function isVerbose(args: readonly string[]): Promise<boolean> {
  if (args.includes('--verbose')) return true;
  const { loadConfig } = await import('../config/load-config.ts');
  const given = args.join('\n').match(/^--config[=\n](.+)$/m);
  try {
    return loadConfig({ configPath: given?.[1] }).agent.verbose;
  } catch {
    return false;
  }
}

/** Names a reranker, or says yes or no for each arm of a comparison. */
const RERANKER = /^(?:onnx:|cohere$|(?:on|off|both|true|false)(?:,|$))/;

/** `--rerank` needs no value, and yargs would take the question after it for one. */
function withRerankSpelled(args: readonly string[]): string[] {
  return args.map((arg, index) =>
    arg === '--rerank' && !RERANKER.test(args[index + 1] ?? '') ? '--rerank=true' : arg,
  );
}

/** yargs drops a lone dash among the words of a command, but not behind `--`. */
function withDashesBehind(args: readonly string[]): string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const dashes = args.slice(0, end).filter((word) => word === '-');
  if (dashes.length === 0) return [...args];
  return [...args.slice(0, end).filter((word) => word !== '-'), '--', ...dashes, ...args.slice(end + 1)];
}

/** `citeloop search … | head` closes the pipe early, which is no fault. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

function writesReport([command = '']: readonly string[]): boolean {
  return command === 'eval' || command === 'compare';
}

/** yargs reports most faults as a message alone, and some as an error of its own. */
function isUsageFault(error: Error | undefined): boolean {
  return !error || error.name === 'YError';
}
