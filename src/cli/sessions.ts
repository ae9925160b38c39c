import type { Argv, CommandModule } from 'yargs';
import type { CommonFlags } from './with-app.ts';

export interface SessionListFlags extends CommonFlags {
  user?: string | undefined;
  limit?: number | undefined;
}

export interface SessionFlags extends CommonFlags {
  id?: string | undefined;
}

export interface SessionExportFlags extends SessionFlags {
  format?: 'json' | 'md' | undefined;
  output?: string | undefined;
}

export interface SessionDeleteFlags extends SessionFlags {
  yes?: boolean | undefined;
}

export interface SessionFeedbackFlags extends SessionFlags {
  verdict?: 'good' | 'bad' | undefined;
  turn?: number | undefined;
  why?: string | undefined;
}

const list: CommandModule<CommonFlags, SessionListFlags> = {
  command: ['list', '$0'],
  describe: 'List the sessions, newest first',
  builder: (yargs) =>
    (yargs as Argv<SessionListFlags>).options({
      user: { type: 'string', describe: 'Only those of this user', requiresArg: true },
      limit: { type: 'number', describe: 'How many at most (20)', requiresArg: true },
    }),
  handler: async (flags) => (await import('./run-sessions.ts')).listSessions(flags),
};

const show: CommandModule<CommonFlags, SessionFlags> = {
  command: 'show <id>',
  describe: 'Show a conversation and what became of its sources',
  builder: identified,
  handler: async (flags) => (await import('./run-sessions.ts')).showSession(flags),
};

const exportOne: CommandModule<CommonFlags, SessionExportFlags> = {
  command: 'export <id>',
  describe: 'Write a session as JSON or Markdown',
  builder: (yargs) =>
    (identified(yargs) as Argv<SessionExportFlags>).options({
      format: { choices: ['json', 'md'] as const, describe: 'How; else as the file is called, or JSON' },
      output: { alias: 'o', type: 'string', describe: 'A file instead of stdout', requiresArg: true },
    }),
  handler: async (flags) => (await import('./run-sessions.ts')).exportSession(flags),
};

const remove: CommandModule<CommonFlags, SessionDeleteFlags> = {
  command: 'delete <id>',
  describe: 'Delete a session for good',
  builder: (yargs) =>
    (identified(yargs) as Argv<SessionDeleteFlags>).option('yes', {
      alias: 'y',
      type: 'boolean',
      describe: 'Do not ask',
    }),
  handler: async (flags) => (await import('./run-sessions.ts')).deleteSession(flags),
};

const feedback: CommandModule<CommonFlags, SessionFeedbackFlags> = {
  command: 'feedback <id> <verdict>',
  describe: 'Say whether an answer was good or bad',
  builder: (yargs) =>
    (identified(yargs) as Argv<SessionFeedbackFlags>)
      .positional('verdict', { choices: ['good', 'bad'] as const, describe: 'What you think of it' })
      .options({
        turn: { type: 'number', describe: 'The number of the turn (the last one)', requiresArg: true },
        why: { type: 'string', describe: 'The reason', requiresArg: true },
      }),
  handler: async (flags) => (await import('./run-sessions.ts')).giveFeedback(flags),
};

export const sessionsCommand: CommandModule<CommonFlags, CommonFlags> = {
  command: 'sessions',
  describe: 'List, show, export, judge or delete conversations',
  builder: (yargs) =>
    yargs
      .command(list)
      .command(show)
      .command(exportOne)
      .command(remove)
      .command(feedback)
      .example('$0 sessions', 'List the newest')
      .example('$0 sessions show last', 'The conversation you had last')
      .example('$0 sessions export 3f2b8c1e --output talk.md', 'As a readable transcript')
      .example('$0 sessions feedback last bad --why "outdated source"', 'Judge its last answer')
      .example('$0 sessions delete 3f2b8c1e --yes', 'Delete without being asked'),
  handler: () => {},
};

function identified(yargs: Argv<CommonFlags>): Argv<SessionFlags> {
  return (yargs as Argv<SessionFlags>).positional('id', {
    type: 'string',
    describe: 'The id, the beginning of it (4 characters or more), or last',
  });
}
