import { basename } from 'node:path';
import * as z from 'zod';
import type { App } from '../../app/create-app.ts';
import { listed, numberList, readFlag } from '../../config/read-value.ts';
import { POLICIES, SEARCH_MODES } from '../../domain/choices.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import {
  ablationArms,
  ablationVerdict,
  armsOfAxes,
  assertComparable,
  parseArm,
} from '../../evaluation/run/plan-arms.ts';
import { AppError } from '../../faults/app-error.ts';
import type { Run } from '../../tape/tape-run.ts';
import { asSettings } from '../commands/read-flags.ts';
import { withApp } from '../commands/with-app.ts';
import { armFiles } from './arm-files.ts';
import { type EvaluationPlan, evaluate } from './evaluate.ts';
import { type EvaluationFlags, type EvaluationInputs, evaluationSchema } from './evaluation-inputs.ts';
import { finishEvaluation } from './finish-evaluation.ts';

/** What a comparison is asked for, as flags and tapes say it. */
export const compareSchema = evaluationSchema.extend({
  policies: z.string().optional(),
  models: z.string().optional(),
  topK: z.string().optional(),
  mode: z.string().optional(),
  thresholds: z.string().optional(),
  rerank: z.string().optional(),
  arm: z.array(z.string()).optional(),
  prompt: z.array(z.string()).optional(),
  ablate: z.boolean().optional(),
});
type CompareInputs = z.infer<typeof compareSchema>;

export interface CompareFlags extends EvaluationFlags, CompareInputs {
  /** A second report, if the first argument is one, too. */
  after?: string | undefined;
}

export async function runCompare({ json, after, ...flags }: CompareFlags): Promise<void> {
  if (after !== undefined) {
    const { cases: before, arm, config, verbose } = flags;
    const { runEvalDiff } = await import('./eval-diff.ts');
    return runEvalDiff({ before, after, arm, config, verbose, json });
  }
  // Here they name arms, not one setting.
  const { topK: _topK, mode: _mode, rerank: _rerank, prices: _prices, ...settings } = flags;
  // What is misspelt is told before anything is opened.
  axesOf(flags);
  await withApp(
    {
      flags: asSettings(settings),
      whenInterrupted: 'Run the same command again to go on from here.',
      taped: { command: 'compare', flags },
    },
    async (app, run) => {
      const report = await compareArms(app, flags, run);
      await finishEvaluation(report, app, run, { ...flags, json });
    },
  );
}

/** Measures every arm that is asked for, and compares them. */
export async function compareArms(
  app: App,
  inputs: EvaluationInputs & CompareInputs,
  run: Run,
): Promise<ReportData> {
  const report = await evaluate(app, inputs, comparePlan(inputs, app), run);
  return inputs.ablate ? { ...report, verdict: ablationVerdict(report.comparisons) } : report;
}

function comparePlan(inputs: CompareInputs, { config }: App): EvaluationPlan {
  const axes = axesOf(inputs);
  const { policy } = config.agent;
  return {
    mode: 'hybrid',
    arms({ scoreThreshold, rerank }) {
      const isGiven = Object.values(axes).some((values) => values !== undefined);
      const plans = [
        ...(inputs.ablate ? ablationArms({ policy, mode: 'hybrid', rerank, scoreThreshold }) : []),
        ...(isGiven ? armsOfAxes(axes) : []),
        ...(inputs.arm ?? []).map((expression) => parseArm(expression, armFiles)),
      ];
      assertComparable(plans);
      return plans;
    },
  };
}

/** What the arms differ in. Throws `invalid_input`. */
function axesOf(inputs: CompareInputs) {
  return {
    policies: chosen(inputs.policies, 'policies', POLICIES),
    models: listOf(inputs.models),
    topK: numbers('--top-k', inputs.topK),
    modes: chosen(inputs.mode, 'mode', SEARCH_MODES),
    thresholds: numbers('--thresholds', inputs.thresholds),
    rerank: chosen(inputs.rerank, 'rerank', ['on', 'off'])?.map((value) => value === 'on'),
    prompts: promptsIn(inputs.prompt ?? []),
  };
}

/** The texts of prompt files, each called as its file is, or by its path where two are called alike. */
function promptsIn(paths: readonly string[]): Map<string, string> | undefined {
  if (paths.length === 0) return undefined;
  const names = paths.map((path) => basename(path));
  return new Map(
    paths.map((path, index) => {
      const name = names[index] ?? path;
      return [names.indexOf(name) === names.lastIndexOf(name) ? name : path, armFiles.text(path)];
    }),
  );
}

function listOf(text: string | undefined): string[] | undefined {
  const values = listed(text ?? '');
  return values.length > 0 ? values : undefined;
}

function chosen(text: string | undefined, flag: string, choices: readonly string[]): string[] | undefined {
  const values = listOf(text);
  const wrong = values?.find((value) => !choices.includes(value));
  if (wrong === undefined) return values;
  throw new AppError('invalid_input', `--${flag} has "${wrong}", which is none of ${choices.join(', ')}.`);
}

function numbers(flag: `--${string}`, text: string | undefined): number[] | undefined {
  const values = readFlag(flag, text, numberList);
  return values?.length ? values : undefined;
}
