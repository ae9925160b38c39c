import type { Argv } from 'yargs';
import { ANSWER_CHANGES } from '../../domain/choices.ts';
import type { ReplayFlags } from '../commands/replay.ts';
import type {
  TapeCheckFlags,
  TapeFileFlags,
  TapeHarFlags,
  TapeImportFlags,
  TapeScrubFlags,
} from '../commands/tape.ts';
import type { TapeDiffFlags, TapeRenewFlags } from '../commands/tape-drift.ts';
import { answeringOptions } from './agent-flags.ts';
import { type CommonFlags, redactOption, replayOptions, withServiceFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';

const output = {
  alias: 'o',
  type: 'string',
  describe: 'Where to, instead of the same file',
  requiresArg: true,
} as const;

const show = defineCommand<TapeFileFlags>({
  command: 'show <tape>',
  describe: 'Show a tape: the conversation, each call, what was retrieved and cited',
  builder: (yargs) => withTape(yargs).example('$0 tape show node.tape.json', 'For people'),
  handler: async (flags) => (await import('../commands/tape.ts')).showTape(flags),
});

const check = defineCommand<TapeCheckFlags>({
  command: 'check <tapes..>',
  describe: 'Check that tapes are whole, as recorded, and hold no key',
  builder: (yargs) =>
    yargs
      .positional('tapes', { type: 'string', array: true, describe: 'The files' })
      .options(redactOption)
      .example('$0 tape check tapes/*.json', 'Before they are committed'),
  handler: async (flags) => {
    process.exitCode = await (await import('../commands/tape.ts')).checkTapes(flags);
  },
});

const scrub = defineCommand<TapeScrubFlags>({
  command: 'scrub <tape>',
  describe: 'Remove keys, and whatever --redact names, from a tape',
  builder: (yargs) =>
    withTape(yargs)
      .options({ ...redactOption, output })
      .example('$0 tape scrub node.tape.json --redact "ACME-\\d+"', 'Remove more'),
  handler: async (flags) => (await import('../commands/tape.ts')).scrubTape(flags),
});

const importHar = defineCommand<TapeImportFlags>({
  command: 'import <har> <tape>',
  describe: 'Convert a HAR file to a tape',
  builder: (yargs) =>
    withTape(yargs)
      .positional('har', { type: 'string', describe: 'HAR file of a browser or of Polly' })
      .options(redactOption)
      .example('$0 tape import session.har a.tape.json', 'Keys are removed as in any recording'),
  handler: async (flags) => (await import('../commands/tape.ts')).importHar(flags),
});

const exportHar = defineCommand<TapeHarFlags>({
  command: 'export <tape> <har>',
  describe: 'Write a tape as a HAR file',
  builder: (yargs) =>
    withTape(yargs)
      .positional('har', { type: 'string', describe: 'The HAR file to write' })
      .example('$0 tape export node.tape.json node.har', 'For the network view of a browser'),
  handler: async (flags) => (await import('../commands/tape.ts')).exportHar(flags),
});

const diff = defineCommand<TapeDiffFlags>({
  command: 'diff <before> <after>',
  describe: 'Show where two tapes differ, but for ids and times; exit with 7 if they do',
  builder: (yargs) =>
    yargs
      .positional('before', { type: 'string', describe: 'A tape' })
      .positional('after', { type: 'string', describe: 'Another of the same run' })
      .example('$0 tape diff before.tape.json after.tape.json', 'But for ids and times'),
  handler: async (flags) => {
    process.exitCode = (await import('../commands/tape-drift.ts')).diffTwoTapes(flags);
  },
});

const renew = defineCommand<TapeRenewFlags>({
  command: 'renew <tapes..>',
  describe: 'Ask the services again for a sample of the calls; exit with 7 if they answer otherwise',
  builder: (yargs) =>
    withServiceFlags(yargs, 'provider')
      .positional('tapes', { type: 'string', array: true, describe: 'The files' })
      .options({
        sample: { type: 'number', describe: 'At most so many calls (10)', requiresArg: true },
        budget: { type: 'number', describe: 'Stop before it costs more than this', requiresArg: true },
        prices: { type: 'string', describe: 'A JSON file of prices for a million tokens', requiresArg: true },
        allow: {
          choices: ANSWER_CHANGES,
          array: true,
          nargs: 1,
          describe: 'A change that is fine; again for another',
        },
        'base-url': answeringOptions['base-url'],
      })
      .example(
        '$0 tape renew tapes/*.json --sample 10 --budget 0.50 --prices prices.json',
        'Has a service drifted?',
      )
      .example('$0 tape renew a.tape.json --allow answer', 'Other words are fine, other tool calls are not')
      .epilogue('No tape is changed: record again where a change is meant to stay.'),
  handler: async (flags) => {
    process.exitCode = await (await import('../commands/tape-drift.ts')).renewTapes(flags);
  },
});

export const tapeCommand = defineCommand<CommonFlags>({
  command: 'tape',
  describe: 'Show, check, scrub, compare, renew or import tapes',
  builder: (yargs) =>
    yargs
      .command(show)
      .command(check)
      .command(scrub)
      .command(importHar)
      .command(exportHar)
      .command(diff)
      .command(renew)
      .demandCommand(1, 'Say what to do: show, check, scrub, diff, renew, import or export.'),
  handler: () => {},
});

function withTape(yargs: Argv) {
  return yargs.positional('tape', { type: 'string', describe: 'The tape' });
}

/** What a replay may change; how passages are searched is on the tape. */
const { tools: _tools, mode: _mode, ...changeable } = answeringOptions;

export const replayCommand = defineCommand<ReplayFlags>({
  command: 'replay <tape..>',
  describe: 'Run again what tapes recorded, and compare',
  builder: (yargs) =>
    withServiceFlags(yargs, 'provider', 'store', 'rerank')
      .positional('tape', { type: 'string', array: true, describe: 'Tapes, as --record made them' })
      .options({
        current: {
          type: 'boolean',
          describe: 'With the prompt and settings of today: do they still come to the same?',
        },
        ...replayOptions,
        ...redactOption,
      })
      .options(changeable)
      .example('$0 replay tapes/*.tape.json', 'Exit with 7 if any of them comes to something else now')
      .example('$0 replay a.tape.json --on-miss record', 'Renew what changed, from the live service')
      .example('$0 replay a.tape.json --policy always', 'The same questions under another policy')
      .example('$0 replay tapes/*.tape.json --current', 'What an edited prompt would change')
      .epilogue('With another setting the run forks: what is still the same is taken from the tape.'),
  handler: async (flags) => {
    process.exitCode = await (await import('../commands/replay.ts')).runReplay(flags);
  },
});
