import { ANSWER_CHANGE_KINDS } from '../../domain/setting-choices.ts';
import type { ReplayFlags } from '../commands/replay.ts';
import type { TapeCommandFlags } from '../commands/tape.ts';
import { answeringOptions } from './agent-flags.ts';
import type { CommandDefinition } from './command-definition.ts';
import { type CommonFlags, redactOption, replayOptions, serviceOptions } from './common-flags.ts';

const tape = { tape: { describe: 'A tape' } };
const tapes = { tapes: { describe: 'Tapes' } };

const show: CommandDefinition<TapeCommandFlags> = {
  command: 'show <tape>',
  describe: 'Show the conversation, calls and passages on a tape',
  positionals: tape,
  examples: [['citeloop tape show node.tape.json', 'Show a tape']],
  handler: async (flags) => (await import('../commands/tape.ts')).showTape(flags),
};

const check: CommandDefinition<TapeCommandFlags> = {
  command: 'check <tapes..>',
  describe: 'Check that tapes are complete and contain no keys',
  positionals: tapes,
  options: redactOption,
  examples: [['citeloop tape check tapes/*.json', 'Check tapes before a commit']],
  handler: async (flags) => (await import('../commands/tape.ts')).checkTapes(flags),
};

const importHar: CommandDefinition<TapeCommandFlags> = {
  command: 'import <har> <tape>',
  describe: 'Convert a HAR file to a tape',
  positionals: { har: { describe: 'A HAR file of a browser' }, ...tape },
  options: redactOption,
  examples: [['citeloop tape import session.har a.tape.json', 'Convert a HAR file; keys are removed']],
  handler: async (flags) => (await import('../commands/tape.ts')).importHar(flags),
};

const exportHar: CommandDefinition<TapeCommandFlags> = {
  command: 'export <tape> <har>',
  describe: 'Convert a tape to a HAR file',
  positionals: { ...tape, har: { describe: 'The HAR file to write' } },
  examples: [['citeloop tape export node.tape.json node.har', 'Open it in the network view of a browser']],
  handler: async (flags) => (await import('../commands/tape.ts')).exportHar(flags),
};

const diff: CommandDefinition<TapeCommandFlags> = {
  command: 'diff <before> <after>',
  describe: 'Compare two tapes; exit with code 7 if they differ',
  positionals: { before: { describe: 'A tape' }, after: { describe: 'Another tape of the same run' } },
  examples: [['citeloop tape diff before.tape.json after.tape.json', 'Ignores ids and times']],
  handler: async (flags) => (await import('../commands/tape.ts')).diffTapeFiles(flags),
};

const renew: CommandDefinition<TapeCommandFlags> = {
  command: 'renew <tapes..>',
  describe: 'Repeat sampled calls; exit with code 7 if answers differ',
  positionals: tapes,
  options: {
    sample: { type: 'number', describe: 'Maximum number of calls (default 10)' },
    allow: { choices: ANSWER_CHANGE_KINDS, array: true, describe: 'Changes to accept' },
    provider: answeringOptions.provider,
    'base-url': answeringOptions['base-url'],
  },
  examples: [
    ['citeloop tape renew tapes/*.json --sample 20', 'Check for drift'],
    ['citeloop tape renew a.tape.json --allow answer', 'Accept other wording, but no other tool calls'],
  ],
  epilogue: 'No tape is changed. To keep a change, record the tape again.',
  handler: async (flags) => (await import('../commands/tape.ts')).renewTapes(flags),
};

export const tapeCommand: CommandDefinition<CommonFlags> = {
  command: 'tape',
  describe: 'Inspect, check, compare and convert tapes',
  commands: [show, check, importHar, exportHar, diff, renew],
};

/** The search mode is taken from the tape. */
const { mode: _mode, ...changeable } = answeringOptions;

export const replayCommand: CommandDefinition<ReplayFlags> = {
  command: 'replay <tape..>',
  describe: 'Run recorded tapes again and compare',
  positionals: { tape: { describe: 'Tapes made with --record' } },
  options: {
    current: { type: 'boolean', describe: 'Use the current prompt and settings' },
    ...replayOptions,
    ...redactOption,
    ...changeable,
    ...serviceOptions('store', 'rerank'),
  },
  examples: [
    ['citeloop replay tapes/*.tape.json', 'Exit with code 7 if a result changed'],
    ['citeloop replay a.tape.json --on-miss record', 'Record changed calls again'],
    ['citeloop replay a.tape.json --policy always', 'Ask the same questions with another policy'],
    ['citeloop replay tapes/*.tape.json --current', 'Test an edited prompt'],
  ],
  epilogue: 'With other settings, calls that stay the same are answered from the tape.',
  handler: async (flags) => (await import('../commands/replay.ts')).runReplay(flags),
};
