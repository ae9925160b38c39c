import type { Argv, CommandModule } from 'yargs';
import { SEARCH_MODES } from '../domain/choices.ts';
import type { SearchMode } from '../domain/search-mode.ts';
import { withServiceFlags } from './service-flags.ts';
import type { TapeFlags } from './tape-flags.ts';
import { withTapeFlags } from './tape-flags.ts';
import type { CommonFlags } from './with-app.ts';

export interface SearchFlags extends CommonFlags, TapeFlags {
  query?: string[] | undefined;
  /** What follows `--`: a query may begin with a dash. */
  '--'?: string[] | undefined;
  topK?: number | undefined;
  threshold?: number | undefined;
  module?: string | undefined;
  filter?: string[] | undefined;
  mode?: SearchMode | undefined;
  explain?: boolean | undefined;
}

export const searchCommand: CommandModule<CommonFlags, SearchFlags> = {
  command: 'search [query..]',
  describe: 'Find the passages that answer a question',
  builder: (yargs) =>
    withServiceFlags(withTapeFlags(yargs as Argv<SearchFlags>), 'store', 'rerank')
      .positional('query', {
        type: 'string',
        array: true,
        describe: 'A question, some words or an identifier',
      })
      .options({
        'top-k': {
          alias: 'k',
          type: 'number',
          describe: 'How many passages, 1 to 100 (5)',
          requiresArg: true,
        },
        threshold: {
          type: 'number',
          describe: 'Least similarity, 0 to 1 (by the embedder; 0.35)',
          requiresArg: true,
        },
        module: { type: 'string', describe: 'Only documents of this module', requiresArg: true },
        filter: {
          type: 'string',
          array: true,
          nargs: 1,
          describe: 'Only documents with key=value; the same key again accepts either',
        },
        mode: {
          choices: SEARCH_MODES,
          default: 'hybrid' as const,
          describe: 'By words and meaning, or one of them',
        },
        explain: { type: 'boolean', describe: 'Show how each passage was found' },
      })
      .example('$0 search "How do robots localise themselves?"', 'By meaning and by words')
      .example('$0 search rclpy.spin_once --mode lexical', 'An identifier, without loading the model')
      .example('$0 search "frame rate" --module isaac --top-k 3 --explain', 'In one module, with reasons')
      .example('$0 search "frame rate" --json', 'For programs'),
  handler: async (flags) => {
    const { runSearch } = await import('./run-search.ts');
    await runSearch({ ...flags, query: [...(flags.query ?? []), ...(flags['--'] ?? [])] });
  },
};
