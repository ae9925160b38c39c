import type { Options } from 'yargs';
import type { CompareFlags } from '../evaluation/compare.ts';
import type { EvalFlags } from '../evaluation/eval.ts';
import type { EvalDiffFlags } from '../evaluation/eval-diff.ts';
import type { EvalImportFlags } from '../evaluation/eval-import.ts';
import type { EvalInitFlags } from '../evaluation/eval-init.ts';
import type { EvalRunsFlags } from '../evaluation/eval-runs.ts';
import type { EvalStaleFlags } from '../evaluation/eval-stale.ts';
import { answeringOptions } from './agent-flags.ts';
import { type CommonFlags, withServiceFlags, withTapeFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';

/** Arms of a comparison may differ in these, so each command says by itself how they are given. */
const { 'top-k': topK, mode, ...shared } = answeringOptions;

const evaluationOptions = {
  ...shared,
  repeat: { type: 'number', describe: 'Ask every question so many times (1)', requiresArg: true },
  concurrency: { type: 'number', describe: 'Questions under way at a time (2)', requiresArg: true },
  seed: { type: 'number', describe: 'Of the samples that intervals are made of (1)', requiresArg: true },
  margin: {
    type: 'number',
    describe: 'Differences below it do not matter: of shares, or as a part of the rest (0.05)',
    requiresArg: true,
  },
  tag: { type: 'string', array: true, nargs: 1, describe: 'Only cases with this tag; again for another' },
  metrics: { type: 'string', describe: 'Only these, by id, with commas between them', requiresArg: true },
  judge: { type: 'number', describe: 'Have a model judge every answer so many times', requiresArg: true },
  'judge-model': { type: 'string', describe: 'Which model judges; --judge needs it', requiresArg: true },
  'judge-base-url': { type: 'string', describe: 'Where the judge is asked', requiresArg: true },
  budget: {
    type: 'number',
    describe: 'Stop before this much money is spent, by --prices',
    requiresArg: true,
  },
  prices: { type: 'string', describe: 'A JSON file of prices for a million tokens', requiresArg: true },
  gate: {
    type: 'string',
    array: true,
    nargs: 1,
    describe: 'Exit with 8 unless this holds; again for another',
  },
  json: { type: 'string', describe: 'Write all data to this file, or to stdout if none is named' },
  html: { type: 'string', describe: 'Write a page to look at', requiresArg: true },
  junit: { type: 'string', describe: 'Write JUnit XML for build servers', requiresArg: true },
  markdown: { type: 'string', describe: 'Write one comment for a pull request', requiresArg: true },
  'report-url': { type: 'string', describe: 'What the comment links to', requiresArg: true },
  resume: {
    type: 'boolean',
    default: true,
    describe: 'Go on with one that was interrupted; --no-resume begins anew',
  },
  fresh: { type: 'boolean', describe: 'The same as --no-resume' },
} as const satisfies Record<string, Options>;

const run = defineCommand<EvalFlags>({
  command: '$0 <cases>',
  describe: 'Ask the questions of a file and measure the answers',
  builder: (yargs) =>
    withTapeFlags(withServiceFlags(yargs, 'provider', 'store', 'rerank'))
      .positional('cases', { type: 'string', describe: 'A file of cases, JSONL or YAML' })
      .options(evaluationOptions)
      .options({
        'top-k': topK,
        mode,
      })
      .example('$0 eval cases.yaml --html report.html', 'Measure, with a page to look at')
      .example('$0 eval cases.yaml --gate "citation.precision>=0.9"', 'Exit with 8 if it is lower')
      .example('$0 eval cases.yaml --gate "no-worse-than baseline.json"', 'Against an earlier --json'),
  handler: async (flags) => (await import('../evaluation/eval.ts')).runEval(flags),
});

const output = (describe: string) => ({ alias: 'o', type: 'string', describe, requiresArg: true }) as const;
const force = { type: 'boolean', describe: 'Overwrite an existing file' } as const;

const init = defineCommand<EvalInitFlags>({
  command: 'init',
  describe: 'Draft cases from a collection or past sessions',
  builder: (yargs) =>
    withServiceFlags(yargs, 'provider', 'store')
      .options({
        from: { choices: ['collection', 'sessions'] as const, describe: 'Draft from (default collection)' },
        count: { alias: 'n', type: 'number', describe: 'Number of cases (default 40)', requiresArg: true },
        output: output('File to write (default cases.yaml)'),
        seed: { type: 'number', describe: 'Seed that selects the passages (default 1)', requiresArg: true },
        model: { ...shared.model, describe: 'Model that writes the questions' },
        'base-url': shared['base-url'],
        force,
      })
      .example('$0 eval init --collection docs', 'Draft cases from your documents')
      .example('$0 eval init --from sessions', 'Draft cases from answers you rated'),
  handler: async (flags) => (await import('../evaluation/eval-init.ts')).runEvalInit(flags),
});

const importCases = defineCommand<EvalImportFlags>({
  command: 'import <path>',
  describe: 'Import cases from CSV, JSONL, promptfoo or a BEIR folder',
  builder: (yargs) =>
    withServiceFlags(yargs, 'store')
      .positional('path', { type: 'string', describe: 'A file of questions, or a BEIR folder' })
      .options({
        output: output('File to write (default cases.jsonl)'),
        limit: { type: 'number', describe: 'Maximum number of cases, evenly drawn', requiresArg: true },
        ingest: { type: 'boolean', default: true, describe: 'Index the corpus of a BEIR folder' },
        force,
      })
      .example('$0 eval import ./beir/scifact --collection scifact', 'Import a public dataset'),
  handler: async (flags) => (await import('../evaluation/eval-import.ts')).runEvalImport(flags),
});

const runs = defineCommand<EvalRunsFlags>({
  command: 'runs',
  describe: 'List the evaluations that are kept, the newest first',
  builder: (yargs) =>
    yargs
      .options({ limit: { type: 'number', describe: 'How many at most (20)', requiresArg: true } })
      .example('$0 eval runs', 'With the names that eval diff takes'),
  handler: async (flags) => (await import('../evaluation/eval-runs.ts')).runEvalRuns(flags),
});

const stale = defineCommand<EvalStaleFlags>({
  command: 'stale <cases>',
  describe:
    'List cases whose expected sources have changed, moved or vanished; exits with 7 if there are any',
  builder: (yargs) =>
    withServiceFlags(yargs, 'store')
      .positional('cases', { type: 'string', describe: 'A file of cases, JSONL or YAML' })
      .options({
        since: {
          type: 'string',
          describe: 'A file of --json, or a run (when the cases were first measured)',
          requiresArg: true,
        },
        accept: { type: 'boolean', describe: 'From now on take what the documents say today' },
      })
      .example('$0 eval stale cases.yaml', 'Which cases are to be looked at')
      .example('$0 eval stale cases.yaml --since baseline.json', 'Since a report was made'),
  handler: async (flags) => {
    process.exitCode = await (await import('../evaluation/eval-stale.ts')).runEvalStale(flags);
  },
});

const armsToDiff = {
  type: 'string',
  array: true,
  nargs: 1,
  describe: 'The arm of both, or again for that of the second (the first)',
} as const;

const diff = defineCommand<EvalDiffFlags>({
  command: 'diff [before] [after]',
  describe: 'Show what flipped between two evaluations of any day, case by case',
  builder: (yargs) =>
    yargs
      .positional('before', { type: 'string', describe: 'A file of --json, a run, or last~1' })
      .positional('after', { type: 'string', describe: 'The same; last unless given' })
      .options({ arm: armsToDiff })
      .example('$0 eval diff last~1 last', 'What flipped since the run before')
      .example('$0 eval diff before.json after.json', 'Between two files of --json'),
  handler: async (flags) => (await import('../evaluation/eval-diff.ts')).runEvalDiff(flags),
});

export const evalCommand = defineCommand<CommonFlags>({
  command: 'eval',
  describe: 'Measure answers, citations and cost on a file of cases',
  builder: (yargs) =>
    yargs
      .command(run)
      .command(init)
      .command(importCases)
      .command(runs)
      .command(diff)
      .command(stale)
      .epilogue('What each metric means: docs/metrics.md'),
  handler: () => {},
});

const list = (describe: string) => ({ type: 'string', describe, requiresArg: true }) as const;

export const compareCommand = defineCommand<CompareFlags>({
  command: 'compare <cases> [after]',
  describe: 'Compare policies, models or settings on the same cases',
  builder: (yargs) =>
    withTapeFlags(withServiceFlags(yargs, 'provider', 'store'))
      .positional('cases', { type: 'string', describe: 'A file of cases, or a report of an earlier run' })
      .positional('after', { type: 'string', describe: 'A later report: shows what flipped' })
      .options(evaluationOptions)
      .options({
        policies: list('Of tool, always, first, never; commas between them'),
        models: list('Names of models'),
        'top-k': { ...list('Passages a search, 1 to 20'), alias: 'k' },
        mode: list('Of hybrid, dense, lexical'),
        thresholds: list('Least similarities, 0 to 1'),
        rerank: list('on, off or both, by Cohere (needs COHERE_API_KEY)'),
        'rerank-model': list('The reranker (the newest on offer)'),
        arm: {
          type: 'string',
          array: true,
          nargs: 1,
          describe: 'An arm of any settings: "name: policy=always topK=10 @file.json"; again for another',
        },
        prompt: {
          type: 'string',
          array: true,
          nargs: 1,
          describe: 'A file with a system prompt; again for another',
        },
        ablate: { type: 'boolean', describe: 'Which stage can be switched off without loss' },
      })
      .example('$0 compare cases.yaml --policies tool,always', 'Which policy to ship')
      .example('$0 compare cases.yaml --top-k 3,5,10 --mode hybrid,dense', 'Every combination')
      .example('$0 compare cases.yaml --models gpt-5,gpt-5-mini --prices prices.json', 'With what they cost')
      .example('$0 compare cases.yaml --prompt a.md --prompt b.md', 'Which prompt')
      .example('$0 compare cases.yaml --arm "temperature=0" --arm "temperature=1"', 'Any setting')
      .example('$0 compare before.json after.json', 'Two reports of --json, case by case')
      .example('$0 compare cases.yaml --ablate --html report.html', 'What each stage is worth')
      .epilogue('The first arm is what the others are compared with. How: docs/evaluation.md'),
  handler: async (flags) => (await import('../evaluation/compare.ts')).runCompare(flags),
});
