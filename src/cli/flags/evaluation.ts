import type { CompareFlags, EvalFlags } from '../evaluation/compare.ts';
import type { EvalDiffFlags } from '../evaluation/eval-diff.ts';
import type { EvalImportFlags } from '../evaluation/eval-import.ts';
import type { EvalInitFlags } from '../evaluation/eval-init.ts';
import { answeringOptions } from './agent-flags.ts';
import type { CommandDefinition, OptionDefinition } from './command-definition.ts';
import { type CommonFlags, serviceOptions, tapeOptions } from './common-flags.ts';

/** `compare` takes lists of these, so each command defines its own. */
const { 'top-k': topK, mode, ...shared } = answeringOptions;

const evaluationOptions = {
  ...shared,
  repeat: { type: 'number', describe: 'Times to ask each question (default 1)' },
  concurrency: { type: 'number', describe: 'Questions at a time (default 2)' },
  seed: { type: 'number', describe: 'Seed of the confidence intervals (default 1)' },
  margin: { type: 'number', describe: 'Equivalence margin of differences (default 0.05)' },
  tag: { array: true, describe: 'Only cases with this tag' },
  'grade-model': { describe: 'Model that grades answers against expectedAnswer' },
  'grade-base-url': { value: 'url', describe: 'Server of the grading model' },
  'hand-grades': { value: 'path', describe: 'Grades by a person, to check the grading model' },
  budget: { type: 'number', describe: 'Stop before the cost exceeds this (needs --prices)' },
  prices: { value: 'path', describe: 'JSON file of prices per million tokens' },
  gate: { value: 'rule', array: true, describe: 'Exit with code 8 unless this holds' },
  json: { value: 'path', optionalValue: /./, describe: 'Write JSON to a file (default stdout)' },
  html: { value: 'path', describe: 'Write an HTML report' },
  markdown: { value: 'path', describe: 'Write a pull request comment' },
  'report-url': { value: 'url', describe: 'Report link in the comment' },
  fresh: { type: 'boolean', describe: 'Start over instead of continuing an interrupted run' },
} as const satisfies Record<string, OptionDefinition>;

const cases = { cases: { describe: 'A case file, JSONL or YAML' } };
const output = { alias: 'o', value: 'path' } as const;
const force = { type: 'boolean', describe: 'Overwrite an existing file' } as const;

const run: CommandDefinition<EvalFlags> = {
  command: '$0 <cases>',
  describe: 'Ask the questions of a case file and measure the answers',
  positionals: cases,
  options: {
    ...evaluationOptions,
    'top-k': topK,
    mode,
    ...serviceOptions('store', 'rerank'),
    ...tapeOptions,
  },
  examples: [
    ['citeloop eval cases.yaml --html report.html', 'Write an HTML report'],
    ['citeloop eval cases.yaml --gate "citation.precision>=0.9"', 'Fail if precision is lower'],
    ['citeloop eval cases.yaml --gate "no-worse-than baseline.json"', 'Compare with an earlier --json file'],
  ],
  handler: async (flags) => (await import('../evaluation/compare.ts')).runEval(flags),
};

const init: CommandDefinition<EvalInitFlags> = {
  command: 'init',
  describe: 'Draft cases from a collection',
  options: {
    count: { alias: 'n', type: 'number', describe: 'Number of cases, a third unanswerable (default 40)' },
    output: { ...output, describe: 'Output file (default cases.yaml)' },
    model: { describe: 'Model that writes the questions' },
    provider: shared.provider,
    'base-url': shared['base-url'],
    force,
    ...serviceOptions('store'),
  },
  examples: [['citeloop eval init --collection docs', 'Draft cases from your documents']],
  handler: async (flags) => (await import('../evaluation/eval-init.ts')).runEvalInit(flags),
};

const importCases: CommandDefinition<EvalImportFlags> = {
  command: 'import <path>',
  describe: 'Import cases from CSV, JSONL, promptfoo or BEIR',
  positionals: { path: { describe: 'A file of questions, or a BEIR folder' } },
  options: {
    output: { ...output, describe: 'Output file (default cases.jsonl)' },
    force,
    ...serviceOptions('store'),
  },
  examples: [['citeloop eval import rows.csv', 'Import rows with question and answer']],
  handler: async (flags) => (await import('../evaluation/eval-import.ts')).runEvalImport(flags),
};

const diff: CommandDefinition<EvalDiffFlags> = {
  command: 'diff <before> <after>',
  describe: 'Compare two evaluations case by case',
  positionals: {
    before: { describe: 'The earlier --json file' },
    after: { describe: 'The later --json file' },
  },
  options: { arm: { array: true, describe: 'Arm to compare; twice for one of each' } },
  examples: [['citeloop eval diff before.json after.json', 'Compare two --json files']],
  handler: async (flags) => (await import('../evaluation/eval-diff.ts')).runEvalDiff(flags),
};

export const evalCommand: CommandDefinition<CommonFlags> = {
  command: 'eval',
  describe: 'Measure answers, citations and cost on test cases',
  commands: [run, init, importCases, diff],
  epilogue: 'Metrics: docs/evaluation.md',
};

export const compareCommand: CommandDefinition<CompareFlags> = {
  command: 'compare <cases>',
  describe: 'Compare policies, models or settings on test cases',
  positionals: cases,
  options: {
    ...evaluationOptions,
    policies: { value: 'list', describe: 'Policies: tool, always, first, never' },
    models: { value: 'list', describe: 'Models' },
    'top-k': { alias: 'k', value: 'list', describe: 'Passages per search, 1 to 20' },
    mode: { value: 'list', describe: 'Search modes: hybrid, dense, lexical' },
    thresholds: { value: 'list', describe: 'Minimum scores, 0 to 1' },
    rerank: { value: 'list', describe: 'Reranking as an arm: on, off' },
    'rerank-model': { describe: 'Cohere rerank model (default: newest)' },
    arm: { value: 'settings', array: true, describe: 'An arm: "name: topK=10" or "module:./agent.mjs"' },
    question: { value: 'arms', describe: 'Two arms to test first (default: the first two)' },
    ...serviceOptions('store'),
    ...tapeOptions,
  },
  examples: [
    ['citeloop compare cases.yaml --policies tool,always', 'Compare two policies'],
    ['citeloop compare cases.yaml --top-k 3,5,10 --mode hybrid,dense', 'Compare every combination'],
    ['citeloop compare cases.yaml --models gpt-5,gpt-5-mini --prices prices.json', 'Compare cost, too'],
    ['citeloop compare cases.yaml --arm systemPrompt=@a.md --arm systemPrompt=@b.md', 'Compare two prompts'],
    ['citeloop compare cases.yaml --arm "temperature=0" --arm "temperature=1"', 'Compare any setting'],
    ['citeloop compare cases.yaml --arm policy=tool --arm module:./agent.mjs', 'Compare with another agent'],
  ],
  epilogue: 'Adding arms does not weaken the test of the first two. See docs/evaluation.md.',
  handler: async (flags) => (await import('../evaluation/compare.ts')).runCompare(flags),
};
