import type { Options } from 'yargs';
import type { CompareFlags } from '../evaluation/compare.ts';
import type { EvalFlags } from '../evaluation/eval.ts';
import type { EvalCalibrateFlags } from '../evaluation/eval-calibrate.ts';
import type { EvalDiffFlags } from '../evaluation/eval-diff.ts';
import type { EvalGenerateFlags } from '../evaluation/eval-generate.ts';
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

const count = { alias: 'n', type: 'number', requiresArg: true } as const;

const init = defineCommand<EvalInitFlags>({
  command: 'init',
  describe: 'Draft cases from a collection or from past sessions, for you to correct',
  builder: (yargs) =>
    withServiceFlags(yargs, 'store')
      .options({
        from: {
          choices: ['collection', 'sessions', 'feedback'] as const,
          describe: 'What to draft from (collection); feedback makes labels for eval calibrate',
        },
        count: { ...count, describe: 'How many (40; of feedback all)' },
        output: {
          alias: 'o',
          type: 'string',
          describe: 'The file to write (cases.yaml, or labels.jsonl)',
          requiresArg: true,
        },
        seed: { type: 'number', describe: 'Another one draws other passages (1)', requiresArg: true },
        user: { type: 'string', describe: 'Only sessions of this user', requiresArg: true },
        force: { type: 'boolean', describe: 'Write over a file that is there' },
      })
      .example('$0 eval init --collection docs', 'Draft cases from your documents')
      .example('$0 eval init --from feedback', 'Labels from the answers that you judged'),
  handler: async (flags) => (await import('../evaluation/eval-init.ts')).runEvalInit(flags),
});

const generate = defineCommand<EvalGenerateFlags>({
  command: 'generate [collection]',
  describe: 'Generate verified cases from a collection, for you to edit',
  builder: (yargs) =>
    withServiceFlags(yargs, 'provider', 'store')
      .positional('collection', { type: 'string', describe: 'The collection' })
      .options({
        count: { ...count, describe: 'How many (50)' },
        output: {
          alias: 'o',
          type: 'string',
          describe: 'The file to write (cases.yaml)',
          requiresArg: true,
        },
        seed: { type: 'number', describe: 'Another one draws other passages (1)', requiresArg: true },
        model: { ...shared.model, describe: 'Words the questions (none: they are ours)' },
        'base-url': shared['base-url'],
        force: { type: 'boolean', describe: 'Write over a file that is there' },
      })
      .example('$0 eval generate docs --count 50', 'Generate verified cases, to be edited'),
  handler: async (flags) => (await import('../evaluation/eval-generate.ts')).runEvalGenerate(flags),
});

const importFolder = defineCommand<EvalImportFlags>({
  command: 'import <folder>',
  describe: 'Make cases of a BEIR folder, a CSV, or a file of promptfoo or Ragas',
  builder: (yargs) =>
    withServiceFlags(yargs, 'store')
      .positional('folder', { type: 'string', describe: 'The folder, which is indexed too, or the file' })
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
      })
      .example('$0 eval import ./beir/scifact --collection scifact', 'A public set'),
  handler: async (flags) => (await import('../evaluation/eval-import.ts')).runEvalImport(flags),
});

const calibrate = defineCommand<EvalCalibrateFlags>({
  command: 'calibrate <labels>',
  describe: 'Hold the check of citations, and a model as judge, against labels that people gave',
  builder: (yargs) =>
    withServiceFlags(yargs, 'provider')
      .positional('labels', { type: 'string', describe: 'A file of labels, JSONL' })
      .options({
        model: shared.model,
        'base-url': shared['base-url'],
        api: shared.api,
        judge: {
          type: 'number',
          describe: 'Hold the model against them too, asked so many times a label',
          requiresArg: true,
        },
        seed: evaluationOptions.seed,
        json: evaluationOptions.json,
        html: evaluationOptions.html,
      })
      .example('$0 eval calibrate labels.jsonl', 'How far verdicts agree with people'),
  handler: async (flags) => (await import('../evaluation/eval-calibrate.ts')).runEvalCalibrate(flags),
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
      .command(generate)
      .command(importFolder)
      .command(calibrate)
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
