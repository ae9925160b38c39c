import yargs, { type CommandModule } from 'yargs';
import { AppError } from '../faults/app-error.ts';
import { version } from '../package.ts';
import { agentOptions } from './flags/agent-flags.ts';
import { collectionsCommand, ingestCommand } from './flags/collections.ts';
import { type CommonFlags, commonOptions, withServiceFlags } from './flags/common-flags.ts';
import { defineCommand } from './flags/define-command.ts';
import { compareCommand, evalCommand } from './flags/evaluation.ts';
import { askCommand, chatCommand, searchCommand } from './flags/questions.ts';
import { mcpCommand, serveCommand } from './flags/servers.ts';
import { sessionsCommand } from './flags/sessions.ts';
import { replayCommand, tapeCommand } from './flags/tapes.ts';

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

const COMMANDS: Pick<CommandModule, 'command'>[] = [
  askCommand,
  chatCommand,
  ingestCommand,
  searchCommand,
  replayCommand,
  tapeCommand,
  sessionsCommand,
  collectionsCommand,
  evalCommand,
  compareCommand,
  serveCommand,
  mcpCommand,
  doctorCommand,
];

/** The one place where failures end up: prints them and sets the exit code. Never throws. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  process.stdout.on('error', ignoreClosedPipe);
  process.stderr.on('error', ignoreClosedPipe);
  try {
    await yargs(withDashesBehind(withRerankSpelled(args)))
      .scriptName('citeloop')
      .usage('$0 [command]\n\nAnswers questions from your own documents, with citations that were checked.')
      .command(COMMANDS as CommandModule[])
      .strict()
      .recommendCommands()
      .parserConfiguration({ 'populate--': true })
      .options({
        ...commonOptions,
        // These two write it to a file of that name.
        json: { ...commonOptions.json, type: writesReport(args) ? 'string' : 'boolean' },
      })
      .example('$0 ingest ./docs', 'Index a directory of documents')
      .example('$0 ask "What is ROS 2?"', 'Answer a question, with sources')
      .example('$0', 'Chat')
      .epilogue('Each command has its own help: citeloop <command> --help')
      .version(version)
      .alias({ help: 'h', version: 'v' })
      .updateStrings({
        // Forms for one and for many, which yargs reads and its types do not know.
        'Not enough non-option arguments: got %s, need at least %s': {
          one: 'An argument is missing (got %s, need at least %s).',
          other: 'An argument is missing (got %s, need at least %s).',
        } as unknown as string,
      })
      .exitProcess(false)
      .showHelpOnFail(false)
      .wrap(Math.min(100, process.stdout.columns ?? 100))
      .fail((message, error) => {
        throw isUsageFault(error)
          ? new AppError('invalid_input', usageFault(message), { hint: `See ${helpFor(args)}.` })
          : error;
      })
      .parseAsync();
  } catch (error) {
    const { reportFailure } = await import('./report-failure.ts');
    process.exitCode = reportFailure(error, {
      json: args.includes('--json') && !writesReport(args),
      verbose: await isVerbose(args),
    });
  }
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

function usageFault(message: string): string {
  return message.replace(/^Not enough arguments following: (.+)$/, '--$1 needs a value.');
}

function helpFor([command = '']: readonly string[]): string {
  return COMMANDS.some(({ command: names }) => [names].flat().some((name) => name?.split(' ')[0] === command))
    ? `citeloop ${command} --help`
    : 'citeloop --help';
}
