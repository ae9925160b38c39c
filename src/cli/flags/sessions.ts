import type { Argv } from 'yargs';
import type { ForkFlags } from '../commands/fork.ts';
import type { OpenFlags } from '../commands/open.ts';
import type {
  SessionDeleteFlags,
  SessionExportFlags,
  SessionFeedbackFlags,
  SessionFlags,
  SessionListFlags,
  SessionSearchFlags,
} from '../commands/sessions.ts';
import { answeringOptions } from './agent-flags.ts';
import { type CommonFlags, withServiceFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';

const list = defineCommand<SessionListFlags>({
  command: ['list', '$0'],
  describe: 'List the sessions, newest first',
  builder: (yargs) =>
    yargs
      .options({
        user: { type: 'string', describe: 'Only those of this user', requiresArg: true },
        limit: { type: 'number', describe: 'How many at most (20)', requiresArg: true },
      })
      .example('$0 sessions', 'List the newest')
      .example('$0 sessions list --limit 100 --json', 'A hundred of them, for programs'),
  handler: async (flags) => (await import('../commands/sessions.ts')).listSessions(flags),
});

const show = defineCommand<SessionFlags>({
  command: 'show <id>',
  describe: 'Show a conversation and what became of its sources',
  builder: (yargs) => identified(yargs).example('$0 sessions show last', 'The conversation you had last'),
  handler: async (flags) => (await import('../commands/sessions.ts')).showSession(flags),
});

const exportOne = defineCommand<SessionExportFlags>({
  command: 'export <id>',
  describe: 'Write a session as JSON, as Markdown, or as messages of the OpenAI API',
  builder: (yargs) =>
    identified(yargs)
      .options({
        format: {
          choices: ['json', 'md', 'openai'] as const,
          describe: 'Format (default: from the file extension, else JSON)',
        },
        output: { alias: 'o', type: 'string', describe: 'A file instead of stdout', requiresArg: true },
      })
      .example('$0 sessions export 3f2b8c1e --output talk.md', 'As a readable transcript')
      .example('$0 sessions export last --format openai', 'As messages of the OpenAI API'),
  handler: async (flags) => (await import('../commands/sessions.ts')).exportSession(flags),
});

const remove = defineCommand<SessionDeleteFlags>({
  command: 'delete <id>',
  describe: 'Delete a session for good',
  builder: (yargs) =>
    identified(yargs)
      .option('yes', { alias: 'y', type: 'boolean', describe: 'Do not ask' })
      .example('$0 sessions delete 3f2b8c1e --yes', 'Delete without being asked'),
  handler: async (flags) => (await import('../commands/sessions.ts')).deleteSession(flags),
});

const complete = defineCommand<SessionFlags>({
  command: 'complete <id>',
  describe: 'Say that a conversation is over; --session takes it up again',
  builder: (yargs) => identified(yargs).example('$0 sessions complete last', 'It is over'),
  handler: async (flags) => (await import('../commands/sessions.ts')).completeOneSession(flags),
});

const feedback = defineCommand<SessionFeedbackFlags>({
  command: 'feedback <id> <verdict>',
  describe: 'Say whether an answer was good or bad',
  builder: (yargs) =>
    identified(yargs)
      .positional('verdict', { choices: ['good', 'bad'] as const, describe: 'What you think of it' })
      .options({
        turn: { type: 'number', describe: 'The number of the turn (the last one)', requiresArg: true },
        why: { type: 'string', describe: 'The reason', requiresArg: true },
      })
      .example('$0 sessions feedback last bad --why "outdated source"', 'Judge its last answer')
      .example('$0 sessions feedback 3f2b8c1e good --turn 2', 'Or another one'),
  handler: async (flags) => (await import('../commands/sessions.ts')).giveFeedback(flags),
});

const search = defineCommand<SessionSearchFlags>({
  command: 'search <words..>',
  describe: 'Find old questions and answers by their words',
  builder: (yargs) =>
    yargs
      .positional('words', { type: 'string', array: true, describe: 'What they hold, all of them' })
      .options({
        user: { type: 'string', describe: 'Only sessions of this user', requiresArg: true },
        limit: { type: 'number', describe: 'How many at most (20)', requiresArg: true },
      })
      .example('$0 sessions search gripper force', 'What was asked and answered about it'),
  handler: async (flags) => (await import('../commands/sessions.ts')).searchSessions(flags),
});

const stale = defineCommand<SessionListFlags>({
  command: 'stale',
  describe: 'List answers whose sources have changed or vanished since',
  builder: (yargs) =>
    yargs
      .options({
        limit: {
          type: 'number',
          describe: 'How many of the newest sessions are looked at (all)',
          requiresArg: true,
        },
      })
      .example('$0 sessions stale', 'After an ingest: which answers to ask anew')
      .example('$0 sessions stale --limit 10', 'Those of the ten newest conversations'),
  handler: async (flags) => (await import('../commands/sessions.ts')).listStale(flags),
});

const fork = defineCommand<ForkFlags>({
  command: 'fork <id>',
  describe: 'Ask once more from a turn on, under another policy or model, and see where they part',
  builder: (yargs) =>
    withServiceFlags(identified(yargs), 'provider', 'store', 'rerank')
      .options({
        turn: {
          type: 'number',
          describe: 'The turn to ask anew, with those after it (the last)',
          requiresArg: true,
        },
      })
      .options(answeringOptions)
      .example('$0 sessions fork last --turn 2 --policy always', 'The same questions, always searched'),
  handler: async (flags) => (await import('../commands/fork.ts')).forkOneSession(flags),
});

export const sessionsCommand = defineCommand<CommonFlags>({
  command: 'sessions',
  describe: 'List, show, search, fork, export, judge or delete conversations',
  builder: (yargs) =>
    yargs
      .command(list)
      .command(show)
      .command(search)
      .command(fork)
      .command(stale)
      .command(exportOne)
      .command(remove)
      .command(feedback)
      .command(complete),
  handler: () => {},
});

export const openCommand = defineCommand<OpenFlags>({
  command: 'open <session> [number]',
  describe: 'Open what an answer cites, at its very place',
  builder: (yargs) =>
    yargs
      .positional('session', {
        type: 'string',
        describe: 'The session, or the number alone for the last one',
      })
      .positional('number', { type: 'string', describe: 'The number of the source, as in [2]' })
      .example('$0 open 2', 'Source [2] of the last conversation, in $EDITOR or the browser')
      .example('$0 open 3f2b8c1e 2', 'Of another one')
      .example('$0 open 2 --json', 'Where it is'),
  handler: async (flags) => (await import('../commands/open.ts')).runOpen(flags),
});

function identified(yargs: Argv) {
  return yargs.positional('id', {
    type: 'string',
    describe: 'The id, the beginning of it (4 characters or more), or last',
  });
}
