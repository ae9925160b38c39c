import type { Argv, CommandModule } from 'yargs';
import { withServiceFlags } from './service-flags.ts';
import type { CommonFlags } from './with-app.ts';

export interface CollectionFlags extends CommonFlags {
  name?: string | undefined;
  yes?: boolean | undefined;
}

const list: CommandModule<CommonFlags, CommonFlags> = {
  command: ['list', '$0'],
  describe: 'List the collections',
  handler: async (flags) => (await import('./run-collections.ts')).listCollections(flags),
};

const show: CommandModule<CommonFlags, CollectionFlags> = {
  command: 'show <name>',
  describe: 'Show what a collection holds',
  builder: named,
  handler: async (flags) => (await import('./run-collections.ts')).showCollection(flags),
};

const remove: CommandModule<CommonFlags, CollectionFlags> = {
  command: 'delete <name>',
  describe: 'Delete a collection for good',
  builder: (yargs) => named(yargs).option('yes', { alias: 'y', type: 'boolean', describe: 'Do not ask' }),
  handler: async (flags) => (await import('./run-collections.ts')).deleteCollection(flags),
};

export interface CopyFlags extends CommonFlags {
  from?: string | undefined;
  to?: string | undefined;
  prune?: boolean | undefined;
}

const copy: CommandModule<CommonFlags, CopyFlags> = {
  command: 'copy <from> <to>',
  describe: 'Copy a collection, also between stores, without embedding again',
  builder: (yargs) =>
    (yargs as Argv<CopyFlags>)
      .positional('from', { type: 'string', describe: 'A collection; sqlite:name or qdrant:name' })
      .positional('to', { type: 'string', describe: 'Its copy; sqlite:name or qdrant:name' })
      .option('prune', { type: 'boolean', describe: 'Remove what only the copy has' }),
  handler: async (flags) => (await import('./run-collections-copy.ts')).copyCollections(flags),
};

export const collectionsCommand: CommandModule<CommonFlags, CommonFlags> = {
  command: 'collections',
  describe: 'List, show, copy or delete collections',
  builder: (yargs) =>
    withServiceFlags(yargs, 'store', 'newCollection')
      .command(list)
      .command(show)
      .command(copy)
      .command(remove)
      .example('$0 collections', 'List them')
      .example('$0 collections show web_documents', 'Its documents and modules')
      .example('$0 collections copy sqlite:web_documents qdrant:web_documents', 'To a Qdrant server')
      .example('$0 collections delete web_documents --yes', 'Delete without being asked'),
  handler: () => {},
};

function named(yargs: Argv<CommonFlags>): Argv<CollectionFlags> {
  return (yargs as Argv<CollectionFlags>).positional('name', {
    type: 'string',
    describe: 'The name of a collection',
  });
}
