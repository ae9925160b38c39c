import type { Argv, CommandModule } from 'yargs';
import { redactOption } from './tape-flags.ts';
import type { CommonFlags } from './with-app.ts';

export interface TapeFileFlags extends CommonFlags {
  tape?: string | undefined;
}

export interface TapeCheckFlags extends CommonFlags {
  tapes?: string[] | undefined;
  redact?: string[] | undefined;
}

export interface TapeScrubFlags extends TapeFileFlags {
  redact?: string[] | undefined;
  output?: string | undefined;
}

export interface TapeHarFlags extends TapeScrubFlags {
  har?: string | undefined;
}

const output = {
  alias: 'o',
  type: 'string',
  describe: 'Where to, instead of the same file',
  requiresArg: true,
} as const;

const show: CommandModule<CommonFlags, TapeFileFlags> = {
  command: 'show <tape>',
  describe: 'Show a tape: the conversation, each call, what was retrieved and cited',
  builder: (yargs) => withTape<TapeFileFlags>(yargs),
  handler: async (flags) => (await import('./run-tape.ts')).showTape(flags),
};

const check: CommandModule<CommonFlags, TapeCheckFlags> = {
  command: 'check <tapes..>',
  describe: 'Check that tapes are whole, as recorded, and hold no key',
  builder: (yargs) =>
    (yargs as Argv<TapeCheckFlags>)
      .positional('tapes', { type: 'string', array: true, describe: 'The files' })
      .options(redactOption),
  handler: async (flags) => {
    process.exitCode = await (await import('./run-tape.ts')).checkTapes(flags);
  },
};

const scrub: CommandModule<CommonFlags, TapeScrubFlags> = {
  command: 'scrub <tape>',
  describe: 'Remove keys, and whatever --redact names, from a tape',
  builder: (yargs) => withTape<TapeScrubFlags>(yargs).options({ ...redactOption, output }),
  handler: async (flags) => (await import('./run-tape.ts')).scrubTape(flags),
};

const importHar: CommandModule<CommonFlags, TapeHarFlags> = {
  command: 'import <har> <tape>',
  describe: 'Make a tape of a HAR file, of a browser or of Polly',
  builder: (yargs) =>
    withTape<TapeHarFlags>(yargs)
      .positional('har', { type: 'string', describe: 'The HAR file' })
      .options(redactOption),
  handler: async (flags) => (await import('./run-tape.ts')).importHar(flags),
};

const exportHar: CommandModule<CommonFlags, TapeHarFlags> = {
  command: 'export <tape> <har>',
  describe: 'Write a tape as a HAR file',
  builder: (yargs) =>
    withTape<TapeHarFlags>(yargs).positional('har', { type: 'string', describe: 'The HAR file to write' }),
  handler: async (flags) => (await import('./run-tape.ts')).exportHar(flags),
};

export const tapeCommand: CommandModule<CommonFlags, CommonFlags> = {
  command: 'tape',
  describe: 'Show, check or scrub tapes, and turn them into HAR files and back',
  builder: (yargs) =>
    yargs
      .command(show)
      .command(check)
      .command(scrub)
      .command(importHar)
      .command(exportHar)
      .demandCommand(1, 'Say what to do: show, check, scrub, import or export.')
      .example('$0 tape show node.tape.json', 'For people')
      .example('$0 tape check tapes/*.json', 'Before they are committed')
      .example('$0 tape scrub node.tape.json --redact "ACME-\\d+"', 'Remove more')
      .example('$0 tape import polly.har polly.tape.json', 'What others recorded'),
  handler: () => {},
};

function withTape<T>(yargs: Argv<CommonFlags>): Argv<T> {
  return yargs.positional('tape', { type: 'string', describe: 'The tape' }) as unknown as Argv<T>;
}
