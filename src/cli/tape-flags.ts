import type { Argv, Options } from 'yargs';

/** Flags of every command whose run can be recorded and replayed. */
export interface TapeFlags {
  record?: string | undefined;
  replay?: string | undefined;
  redact?: string[] | undefined;
  onMiss?: 'fail' | 'passthrough' | 'record' | undefined;
  timing?: 'none' | 'recorded' | undefined;
}

export const replayOptions = {
  'on-miss': {
    choices: ['fail', 'passthrough', 'record'],
    describe: 'What is not on the tape: exit with 7, ask the service, or that and renew the tape (fail)',
    requiresArg: true,
  },
  timing: {
    choices: ['none', 'recorded'],
    describe: 'Answer at once, or as slowly as the service did (none)',
    requiresArg: true,
  },
} as const satisfies Record<string, Options>;

export const redactOption = {
  redact: {
    type: 'string',
    array: true,
    nargs: 1,
    describe: 'A regular expression for what else must not be on the tape; may be repeated',
  },
} as const satisfies Record<string, Options>;

const tapeOptions = {
  record: {
    type: 'string',
    describe: 'Record every call to a service in this file',
    requiresArg: true,
    conflicts: 'replay',
  },
  replay: {
    type: 'string',
    describe: 'Answer every call from this tape, without a key and without a network',
    requiresArg: true,
  },
  ...redactOption,
  ...replayOptions,
} as const satisfies Record<string, Options>;

/** The command with the flags of tapes, in a group of their own. */
export function withTapeFlags<T>(yargs: Argv<T>): Argv<T> {
  return yargs.options(tapeOptions).group(Object.keys(tapeOptions), 'Tapes:') as unknown as Argv<T>;
}
