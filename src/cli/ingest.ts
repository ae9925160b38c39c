import type { Argv, CommandModule } from 'yargs';
import { withServiceFlags } from './service-flags.ts';
import type { TapeFlags } from './tape-flags.ts';
import { withTapeFlags } from './tape-flags.ts';
import type { CommonFlags } from './with-app.ts';

interface IngestFlags extends CommonFlags, TapeFlags {
  source?: string[] | undefined;
  baseUrl?: string | undefined;
  module?: string | undefined;
  prune?: boolean | undefined;
  follow?: boolean | undefined;
  allowPrivate?: boolean | undefined;
  maxPages?: number | undefined;
  maxDepth?: number | undefined;
  maxSeconds?: number | undefined;
}

export const ingestCommand: CommandModule<CommonFlags, IngestFlags> = {
  command: 'ingest <source..>',
  describe: 'Index documents: files, directories, globs, or a web site',
  builder: (yargs) =>
    withServiceFlags(withTapeFlags(yargs as Argv<IngestFlags>), 'store', 'newCollection')
      .positional('source', {
        type: 'string',
        array: true,
        describe:
          'A path, glob, directory, URL or sitemap.xml (Markdown, MDX, reStructuredText, HTML, text, PDF)',
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
      .example('$0 ingest https://docs.example.com/sitemap.xml', 'A site by its sitemap'),
  handler: async (flags) => {
    const { runIngest } = await import('./run-ingest.ts');
    process.exitCode = await runIngest(flags);
  },
};

export type { IngestFlags };
