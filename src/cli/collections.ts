import type { Argv, CommandModule } from 'yargs';
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

export const collectionsCommand: CommandModule<CommonFlags, CommonFlags> = {
  command: 'collections',
  describe: 'List, show or delete collections',
  builder: (yargs) =>
    yargs
      .command(list)
      .command(show)
      .command(remove)
      .example('$0 collections', 'List them')
      .example('$0 collections show web_documents', 'Its documents and modules')
      .example('$0 collections delete web_documents --yes', 'Delete without being asked'),
  handler: () => {},
};

function named(yargs: Argv<CommonFlags>): Argv<CollectionFlags> {
  return (yargs as Argv<CollectionFlags>).positional('name', {
    type: 'string',
    describe: 'The name of a collection',
  });
}
