import type { Argv, CommandModule } from 'yargs';
import { type EvaluationFlags, evaluationOptions } from './eval/evaluation-flags.ts';
import { withServiceFlags } from './service-flags.ts';
import { withTapeFlags } from './tape-flags.ts';
import type { CommonFlags } from './with-app.ts';

export interface CompareFlags extends EvaluationFlags {
  policies?: string | undefined;
  models?: string | undefined;
  topK?: string | undefined;
  mode?: string | undefined;
  thresholds?: string | undefined;
  rerank?: string | undefined;
  arm?: string[] | undefined;
  ablate?: boolean | undefined;
}

const list = (describe: string) => ({ type: 'string', describe, requiresArg: true }) as const;

export const compareCommand: CommandModule<CommonFlags, CompareFlags> = {
  command: 'compare <cases>',
  describe: 'Compare policies, models or any settings on the same cases, with evidence',
  builder: (yargs) =>
    withServiceFlags(withTapeFlags(yargs as unknown as Argv<CompareFlags>), 'provider', 'store')
      .positional('cases', { type: 'string', describe: 'A file of cases, JSONL or YAML' })
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
          describe: 'An arm of any settings: "name: policy=always topK=10"; again for another',
        },
        ablate: { type: 'boolean', describe: 'Which stage can be switched off without loss' },
      })
      .example('$0 compare cases.yaml --policies tool,always', 'Which policy to ship')
      .example('$0 compare cases.yaml --top-k 3,5,10 --mode hybrid,dense', 'Every combination')
      .example('$0 compare cases.yaml --models gpt-5,gpt-5-mini --prices prices.json', 'With what they cost')
      .example('$0 compare cases.yaml --arm "temperature=0" --arm "temperature=1"', 'Any setting')
      .example('$0 compare cases.yaml --ablate --html report.html', 'What each stage is worth')
      .epilogue('The first arm is what the others are compared with. How: docs/evaluation.md'),
  handler: async (flags) => (await import('./run-compare.ts')).runCompare(flags),
};
