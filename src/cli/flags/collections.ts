import type { CollectionFlags } from '../commands/collections.ts';
import type { IngestFlags } from '../commands/ingest.ts';
import type { CommandDefinition } from './command-definition.ts';
import { type CommonFlags, serviceOptions, tapeOptions } from './common-flags.ts';

export const ingestCommand: CommandDefinition<IngestFlags> = {
  command: 'ingest [source..]',
  describe: 'Index files, directories or web pages',
  positionals: {
    source: { describe: 'Path, glob, URL or sitemap.xml (formats: docs/formats.md)' },
  },
  options: {
    'base-url': { value: 'url', describe: 'Where the files are published; citations link there' },
    module: { describe: 'Module of these documents (default: their folder)' },
    description: { value: 'text', describe: 'What the documents are about, for the model' },
    prune: { type: 'boolean', describe: 'Remove documents whose source is gone' },
    include: { value: 'pattern', array: true, describe: 'Only matching files, as in .gitignore' },
    exclude: { value: 'pattern', array: true, describe: 'Skip matching files, as in .gitignore' },
    follow: { type: 'boolean', default: true, describe: 'Follow links below a URL (--no-follow: one page)' },
    'allow-private': { type: 'boolean', describe: 'Allow URLs on this machine and private networks' },
    'max-pages': { type: 'number', describe: 'Pages per site (default 500)' },
    'max-depth': { type: 'number', describe: 'Links from the start page (default 5)' },
    'max-seconds': { type: 'number', describe: 'Seconds per site (default 600)' },
    'max-parse-seconds': { type: 'number', describe: 'Seconds to parse a document (default 60)' },
    'max-parse-memory-mb': { type: 'number', describe: 'Memory to parse a document (default 1024)' },
    'max-parse-output-mb': { type: 'number', describe: 'Size of a parsed document (default 128)' },
    ...serviceOptions('store', 'newCollection'),
    ...tapeOptions,
  },
  examples: [
    ['citeloop ingest ./docs', 'Index a directory'],
    ['citeloop ingest "notes/**/*.md" paper.pdf', 'Index a glob and a file'],
    ['citeloop ingest ./docs --base-url https://docs.example.com --prune', 'Cite the published site'],
    ['citeloop ingest . --include "*.py" --exclude tests/', 'Index some of the files'],
    ['citeloop ingest https://docs.example.com/sitemap.xml', 'Index a site by its sitemap'],
  ],
  handler: async (flags) => (await import('../commands/ingest.ts')).runIngest(flags),
};

const name = { name: { describe: 'The name of a collection' } };

const list: CommandDefinition<CommonFlags> = {
  command: ['list', '$0'],
  describe: 'List collections',
  examples: [['citeloop collections', 'List collections']],
  handler: async (flags) => (await import('../commands/collections.ts')).listCollections(flags),
};

const show: CommandDefinition<CollectionFlags> = {
  command: 'show <name>',
  describe: 'Show the documents of a collection',
  positionals: name,
  examples: [['citeloop collections show my_docs', 'Show documents and modules']],
  handler: async (flags) => (await import('../commands/collections.ts')).showCollection(flags),
};

const describe: CommandDefinition<CollectionFlags> = {
  command: 'describe <name> [text]',
  describe: 'Set what the documents are about, for the model',
  positionals: { ...name, text: { describe: 'The description; an empty one removes it' } },
  examples: [['citeloop collections describe my_docs "The handbook of Acme"', 'Set the description']],
  handler: async (flags) => (await import('../commands/collections.ts')).runCollectionDescribe(flags),
};

const copy: CommandDefinition<CollectionFlags> = {
  command: 'copy <from> <to>',
  describe: 'Copy a collection within or between stores, without embedding again',
  positionals: {
    from: { describe: 'A collection: name, sqlite:name or qdrant:name' },
    to: { describe: 'The copy: name, sqlite:name or qdrant:name' },
  },
  options: { prune: { type: 'boolean', describe: 'Remove documents that only the copy has' } },
  examples: [['citeloop collections copy sqlite:docs qdrant:docs', 'Copy to a Qdrant server']],
  handler: async (flags) => (await import('../commands/collections.ts')).runCollectionCopy(flags),
};

const removeDocument: CommandDefinition<CollectionFlags> = {
  command: 'remove <name> <document>',
  describe: 'Remove a document, or all documents below a directory',
  positionals: { ...name, document: { describe: 'A path, a URL or the end of one; or a directory' } },
  examples: [['citeloop collections remove my_docs docs/old.md', 'Remove one document']],
  handler: async (flags) => (await import('../commands/collections.ts')).removeCollectionDocuments(flags),
};

const remove: CommandDefinition<CollectionFlags> = {
  command: 'delete <name>',
  describe: 'Delete a collection',
  positionals: name,
  options: { yes: { alias: 'y', type: 'boolean', describe: 'Skip the confirmation' } },
  examples: [['citeloop collections delete my_docs --yes', 'Delete without confirmation']],
  handler: async (flags) => (await import('../commands/collections.ts')).deleteCollection(flags),
};

export const collectionsCommand: CommandDefinition<CommonFlags> = {
  command: 'collections',
  describe: 'Manage collections of documents',
  options: serviceOptions('store', 'newCollection'),
  commands: [list, show, describe, copy, removeDocument, remove],
};
