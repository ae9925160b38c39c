import type { Argv } from 'yargs';
import type { CollectionFlags, CopyFlags, RemoveFlags, ThresholdFlags } from '../commands/collections.ts';
import type { IngestFlags } from '../commands/ingest.ts';
import { type CommonFlags, withServiceFlags, withTapeFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';

export const ingestCommand = defineCommand<IngestFlags>({
  command: 'ingest [source..]',
  describe: 'Index documents: files, directories, globs, or a web site',
  builder: (yargs) =>
    withServiceFlags(withTapeFlags(yargs), 'store', 'newCollection')
      .positional('source', {
        type: 'string',
        array: true,
        describe:
          'A path, glob, directory, URL or sitemap.xml (Markdown, MDX, reStructuredText, AsciiDoc, HTML, text, PDF, Word, EPUB, CSV, Excel, notebooks, source code)',
      })
      .options({
        'base-url': {
          type: 'string',
          describe: 'Where the files are published; citations link there',
          requiresArg: true,
        },
        module: {
          type: 'string',
          describe: 'The module of all these documents, instead of their folder',
          requiresArg: true,
        },
        prune: { type: 'boolean', describe: 'Remove documents that the sources have lost' },
        watch: { type: 'boolean', describe: 'Go on with every change, until Ctrl-C' },
        include: {
          type: 'string',
          array: true,
          describe: 'Only files that match, as in .gitignore; may be given again',
          requiresArg: true,
          nargs: 1,
        },
        exclude: {
          type: 'string',
          array: true,
          describe: 'No files or folders that match, as in .gitignore; may be given again',
          requiresArg: true,
          nargs: 1,
        },
        follow: {
          type: 'boolean',
          default: true,
          describe: 'Follow links below a URL; --no-follow takes just the page',
        },
        'allow-private': { type: 'boolean', describe: 'Allow URLs on this machine and in private networks' },
        'max-pages': { type: 'number', describe: 'Most pages of a site (500)', requiresArg: true },
        'max-depth': { type: 'number', describe: 'Most links away from the start (5)', requiresArg: true },
        'max-seconds': { type: 'number', describe: 'Longest time for a site (600)', requiresArg: true },
      })
      .example('$0 ingest ./docs', 'A directory with all its documents')
      .example('$0 ingest "notes/**/*.md" paper.pdf', 'A glob and a file')
      .example(
        '$0 ingest ./docs --base-url https://docs.example.com --prune',
        'Cite the published site; forget deleted pages',
      )
      .example('$0 ingest ./docs --watch --prune', 'Follow what changes and what is deleted')
      .example('$0 ingest . --include "*.py" --exclude tests/', 'Part of a directory')
      .example('$0 ingest https://docs.example.com/sitemap.xml', 'A site by its sitemap'),
  handler: async (flags) => {
    const { runIngest } = await import('../commands/ingest.ts');
    process.exitCode = await runIngest({
      ...flags,
      source: [...(flags.source ?? []), ...(flags['--'] ?? [])],
    });
  },
});

const list = defineCommand<CommonFlags>({
  command: ['list', '$0'],
  describe: 'List the collections',
  builder: (yargs) => yargs.example('$0 collections', 'List them'),
  handler: async (flags) => (await import('../commands/collections.ts')).listCollections(flags),
});

const show = defineCommand<CollectionFlags>({
  command: 'show <name>',
  describe: 'Show what a collection holds',
  builder: (yargs) => named(yargs).example('$0 collections show web_documents', 'Its documents and modules'),
  handler: async (flags) => (await import('../commands/collections.ts')).showCollection(flags),
});

const remove = defineCommand<CollectionFlags>({
  command: 'delete <name>',
  describe: 'Delete a collection for good',
  builder: (yargs) =>
    named(yargs)
      .option('yes', { alias: 'y', type: 'boolean', describe: 'Do not ask' })
      .example('$0 collections delete web_documents --yes', 'Delete without being asked'),
  handler: async (flags) => (await import('../commands/collections.ts')).deleteCollection(flags),
});

const removeDocument = defineCommand<RemoveFlags>({
  command: 'remove <name> <document>',
  describe: 'Remove a document, or all below a directory, from a collection',
  builder: (yargs) =>
    named(yargs)
      .positional('document', {
        type: 'string',
        describe: 'Its path or address, or as much of the end of it as tells it apart; or a directory',
      })
      .example('$0 collections remove web_documents docs/old.md', 'Forget one document'),
  handler: async (flags) => (await import('../commands/collections.ts')).removeFromCollection(flags),
});

const copy = defineCommand<CopyFlags>({
  command: 'copy <from> <to>',
  describe: 'Copy a collection, also between stores, without embedding again',
  builder: (yargs) =>
    yargs
      .positional('from', { type: 'string', describe: 'A collection; sqlite:name or qdrant:name' })
      .positional('to', { type: 'string', describe: 'Its copy; sqlite:name or qdrant:name' })
      .option('prune', { type: 'boolean', describe: 'Remove what only the copy has' })
      .example('$0 collections copy sqlite:web_documents qdrant:web_documents', 'To a Qdrant server'),
  handler: async (flags) => (await import('../commands/collections.ts')).copyCollections(flags),
});

const threshold = defineCommand<ThresholdFlags>({
  command: 'threshold <name>',
  describe: 'Find out from which score on its passages count as relevant',
  builder: (yargs) =>
    named(yargs)
      .option('save', {
        type: 'boolean',
        describe: 'Keep it beside the model (--embedder onnx:<directory>)',
      })
      .example('$0 collections threshold web_documents', 'Which scores count as relevant there')
      .example(
        '$0 collections threshold handbook --embedder onnx:./models/gte-small --save',
        'For a model of your own, kept beside it',
      ),
  handler: async (flags) => (await import('../commands/collections.ts')).fitCollectionThreshold(flags),
});

const use = defineCommand<CollectionFlags>({
  command: 'use <name>',
  describe: 'Make a collection the one that is meant from now on',
  builder: (yargs) =>
    named(yargs).example('$0 collections use handbook', 'Ask that one unless --collection names another'),
  handler: async (flags) => (await import('../commands/collections.ts')).useCollection(flags),
});

export const collectionsCommand = defineCommand<CommonFlags>({
  command: 'collections',
  describe: 'List, show, choose, copy or delete collections',
  builder: (yargs) =>
    withServiceFlags(yargs, 'store', 'newCollection')
      .command(list)
      .command(show)
      .command(use)
      .command(copy)
      .command(removeDocument)
      .command(threshold)
      .command(remove),
  handler: () => {},
});

function named(yargs: Argv) {
  return yargs.positional('name', {
    type: 'string',
    describe: 'The name of a collection',
  });
}
