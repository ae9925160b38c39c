import type { OpenFlags } from '../commands/open.ts';
import type { SessionFlags } from '../commands/sessions.ts';
import type { CommandDefinition } from './command-definition.ts';
import type { CommonFlags } from './common-flags.ts';

const id = { id: { describe: 'A session id, its first 4 characters or more, or last' } };
const user = { describe: 'Only sessions of this user' };
const limit = { type: 'number', describe: 'Maximum number of results (default 20)' } as const;

const list: CommandDefinition<SessionFlags> = {
  command: ['list', '$0'],
  describe: 'List sessions, newest first',
  options: { user, limit },
  examples: [
    ['citeloop sessions', 'List the newest sessions'],
    ['citeloop sessions list --limit 100 --json', 'Print 100 sessions as JSON'],
  ],
  handler: async (flags) => (await import('../commands/sessions.ts')).listSessions(flags),
};

const show: CommandDefinition<SessionFlags> = {
  command: 'show <id>',
  describe: 'Show a conversation',
  positionals: id,
  examples: [['citeloop sessions show last', 'Show the last conversation']],
  handler: async (flags) => (await import('../commands/sessions.ts')).showSession(flags),
};

const exportOne: CommandDefinition<SessionFlags> = {
  command: 'export <id>',
  describe: 'Export a session as JSON, Markdown or OpenAI messages',
  positionals: id,
  options: {
    format: {
      choices: ['json', 'md', 'openai'],
      describe: 'Export format (default: by file name, or json)',
    },
    output: { alias: 'o', value: 'path', describe: 'Output file (default stdout)' },
  },
  examples: [
    ['citeloop sessions export 3f2b8c1e --output talk.md', 'Write a Markdown transcript'],
    ['citeloop sessions export last --format openai', 'Print OpenAI messages'],
  ],
  handler: async (flags) => (await import('../commands/sessions.ts')).exportSession(flags),
};

const remove: CommandDefinition<SessionFlags> = {
  command: 'delete <id>',
  describe: 'Delete a session',
  positionals: id,
  options: { yes: { alias: 'y', type: 'boolean', describe: 'Skip the confirmation' } },
  examples: [['citeloop sessions delete 3f2b8c1e --yes', 'Delete without confirmation']],
  handler: async (flags) => (await import('../commands/sessions.ts')).deleteSession(flags),
};

export const sessionsCommand: CommandDefinition<CommonFlags> = {
  command: 'sessions',
  describe: 'Manage past conversations',
  commands: [list, show, exportOne, remove],
};

export const openCommand: CommandDefinition<OpenFlags> = {
  command: 'open [session] <number>',
  describe: 'Open a cited source at its line',
  positionals: {
    session: { describe: 'A session id (default: the last session)' },
    number: { describe: 'The number of a source, such as 2 for [2]' },
  },
  examples: [
    ['citeloop open 2', 'Open source [2] of the last session in $EDITOR or the browser'],
    ['citeloop open 3f2b8c1e 2', 'Open source [2] of another session'],
    ['citeloop open 2 --json', 'Print its location as JSON'],
  ],
  handler: async (flags) => (await import('../commands/open.ts')).runOpen(flags),
};
