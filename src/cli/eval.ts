import type { Argv, CommandModule } from 'yargs';
import { SEARCH_MODES } from '../domain/choices.ts';
import type { SearchMode } from '../domain/search-mode.ts';
import { type EvaluationFlags, evaluationOptions } from './eval/evaluation-flags.ts';
import { withServiceFlags } from './service-flags.ts';
import { withTapeFlags } from './tape-flags.ts';
import type { CommonFlags } from './with-app.ts';

export interface EvalFlags extends EvaluationFlags {
  topK?: number | undefined;
  mode?: SearchMode | undefined;
}

export interface EvalInitFlags extends Omit<CommonFlags, 'json'> {
  /** Given at all: what was done as JSON. */
  json?: string | undefined;
  from?: 'collection' | 'sessions' | undefined;
  count?: number | undefined;
  output?: string | undefined;
  seed?: number | undefined;
  user?: string | undefined;
  force?: boolean | undefined;
}

export interface EvalImportFlags extends Omit<CommonFlags, 'json'> {
  /** Given at all: what was done as JSON. */
  json?: string | undefined;
  folder?: string | undefined;
  output?: string | undefined;
  limit?: number | undefined;
  ingest?: boolean | undefined;
  force?: boolean | undefined;
}

const run: CommandModule<CommonFlags, EvalFlags> = {
  command: '$0 <cases>',
  describe: 'Ask the questions of a file and measure the answers',
  builder: (yargs) =>
    withTapeFlags(withServiceFlags(yargs as unknown as Argv<EvalFlags>, 'provider', 'store', 'rerank'))
      .positional('cases', { type: 'string', describe: 'A file of cases, JSONL or YAML' })
      .options(evaluationOptions)
      .options({
        'top-k': {
          alias: 'k',
          type: 'number',
          describe: 'Passages a search, 1 to 20 (5)',
          requiresArg: true,
        },
        mode: { choices: SEARCH_MODES, describe: 'Search by words and meaning, or one of them (hybrid)' },
      }),
  handler: async (flags) => (await import('./run-eval.ts')).runEval(flags),
};

const init: CommandModule<CommonFlags, EvalInitFlags> = {
  command: 'init',
  describe: 'Draft cases from a collection or from past sessions, for you to correct',
  builder: (yargs) =>
    withServiceFlags(yargs as unknown as Argv<EvalInitFlags>, 'store').options({
      from: { choices: ['collection', 'sessions'] as const, describe: 'What to draft from (collection)' },
      count: { type: 'number', describe: 'How many from the documents (40)', requiresArg: true },
      output: { alias: 'o', type: 'string', describe: 'The file to write (cases.yaml)', requiresArg: true },
      seed: { type: 'number', describe: 'Another one draws other passages (1)', requiresArg: true },
      user: { type: 'string', describe: 'Only sessions of this user', requiresArg: true },
      force: { type: 'boolean', describe: 'Write over a file that is there' },
    }),
  handler: async (flags) => (await import('./run-eval-init.ts')).runEvalInit(flags),
};

const importFolder: CommandModule<CommonFlags, EvalImportFlags> = {
  command: 'import <folder>',
  describe: 'Make cases and a collection of a BEIR folder: corpus.jsonl, queries.jsonl, qrels.tsv',
  builder: (yargs) =>
    withServiceFlags(yargs as unknown as Argv<EvalImportFlags>, 'store')
      .positional('folder', { type: 'string', describe: 'The folder' })
      .options({
        output: {
          alias: 'o',
          type: 'string',
          describe: 'The file of cases to write (cases.jsonl)',
          requiresArg: true,
        },
        limit: {
          type: 'number',
          describe: 'How many questions at most, evenly drawn (all)',
          requiresArg: true,
        },
        ingest: {
          type: 'boolean',
          default: true,
          describe: 'Index the corpus; --no-ingest: write the cases alone',
        },
        force: { type: 'boolean', describe: 'Write over a file that is there' },
      }),
  handler: async (flags) => (await import('./run-eval-import.ts')).runEvalImport(flags),
};

export const evalCommand: CommandModule<CommonFlags, CommonFlags> = {
  command: 'eval',
  describe: 'Measure answers, citations, abstention and cost on a file of cases',
  builder: (yargs) =>
    yargs
      .command(run)
      .command(init)
      .command(importFolder)
      .example('$0 eval init --collection docs', 'Draft cases from your documents')
      .example('$0 eval cases.yaml --html report.html', 'Measure, with a page to look at')
      .example('$0 eval cases.yaml --gate "citation.precision>=0.9"', 'Exit with 8 if it is lower')
      .example('$0 eval cases.yaml --gate "no-worse-than baseline.json"', 'Against an earlier --json')
      .example('$0 eval import ./beir/scifact --collection scifact', 'A public set')
      .epilogue('What each metric means: docs/metrics.md'),
  handler: () => {},
};
