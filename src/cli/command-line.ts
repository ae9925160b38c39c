import yargs, { type CommandModule } from 'yargs';
import { AppError } from '../domain/app-error.ts';
import { version } from '../version.ts';
import { askCommand } from './ask.ts';
import { chatCommand } from './chat.ts';
import { collectionsCommand } from './collections.ts';
import { compareCommand } from './compare.ts';
import { doctorCommand } from './doctor.ts';
import { evalCommand } from './eval.ts';
import { ingestCommand } from './ingest.ts';
import { mcpCommand } from './mcp.ts';
import { replayCommand } from './replay.ts';
import { searchCommand } from './search.ts';
import { serveCommand } from './serve.ts';
import { serveModelCommand } from './serve-model.ts';
import { sessionsCommand } from './sessions.ts';
import { tapeCommand } from './tape.ts';

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
  serveModelCommand,
  mcpCommand,
  doctorCommand,
];

/** The one place where failures end up: prints them and sets the exit code. Never throws. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  process.stdout.on('error', ignoreClosedPipe);
  process.stderr.on('error', ignoreClosedPipe);
  try {
    await yargs([...args])
      .scriptName('citeloop')
      .usage('$0 [command]\n\nAnswers questions from your own documents, with citations that were checked.')
      .command(COMMANDS as CommandModule[])
      .strict()
      .recommendCommands()
      .parserConfiguration({ 'populate--': true })
      .options({
        collection: { type: 'string', describe: 'The collection to use', requiresArg: true },
        config: {
          type: 'string',
          describe: 'A config file instead of ./citeloop.config.json',
          requiresArg: true,
        },
        // These two write it to a file of that name.
        json: { type: writesReport(args) ? 'string' : 'boolean', describe: 'Print JSON for programs' },
        verbose: { type: 'boolean', describe: 'Say more about what happens and goes wrong' },
      })
      .example('$0 ingest ./docs', 'Index a directory of documents')
      .example('$0 ask "What is ROS 2?"', 'Answer a question, with sources')
      .example('$0', 'Chat')
      .epilogue('Each command has its own help: citeloop <command> --help')
      .version(version)
      .alias({ help: 'h', version: 'v' })
      .updateStrings({
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
      verbose: args.includes('--verbose'),
    });
  }
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
