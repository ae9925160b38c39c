import * as z from 'zod';
import type { App } from '../../app/create-app.ts';
import { numberListSchema, parseFlag, splitList } from '../../config/parse-value.ts';
import { RETRIEVAL_POLICIES, SEARCH_MODES } from '../../domain/setting-choices.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import {
  assertComparableArms,
  combineArmSettings,
  parseArm,
  readPromptFiles,
} from '../../evaluation/run/plan-arms.ts';
import { AppError } from '../../faults/app-error.ts';
import type { CommandRun } from '../../tape/run-observer.ts';
import { toSettings } from '../commands/read-flags.ts';
import { withApp } from '../commands/with-app.ts';
import { runEvaluation } from './evaluate.ts';
import { type EvaluationFlags, type EvaluationInputs, evaluationInputsSchema } from './evaluation-inputs.ts';
import { writeReport } from './write-report.ts';

/** The inputs of `compare` that a tape records. */
export const compareInputsSchema = evaluationInputsSchema.extend({
  policies: z.string().optional(),
  models: z.string().optional(),
  topK: z.string().optional(),
  mode: z.string().optional(),
  thresholds: z.string().optional(),
  rerank: z.string().optional(),
  arm: z.array(z.string()).optional(),
  prompt: z.array(z.string()).optional(),
});
type CompareInputs = z.infer<typeof compareInputsSchema>;

export interface CompareFlags extends EvaluationFlags, CompareInputs {}

export async function runCompare({ json, ...flags }: CompareFlags): Promise<void> {
  // These name arms, or a file, and are no settings of the app.
  const { topK: _topK, mode: _mode, rerank: _rerank, prices: _prices, ...settings } = flags;
  // Rejects wrong values before anything is opened.
  parseAxes(flags);
  await withApp(
    {
      flags: toSettings(settings),
      whenInterrupted: 'Run the same command again to continue.',
      taped: { command: 'compare', flags },
    },
    async (app, run) => {
      const report = await compareArms(app, flags, run);
      await writeReport(report, app, run, { ...flags, json });
    },
  );
}

/** Evaluates every arm and compares them with the first. */
export async function compareArms(
  app: App,
  inputs: EvaluationInputs & CompareInputs,
  run: CommandRun,
): Promise<ReportData> {
  const arms = [...combineArmSettings(parseAxes(inputs)), ...(inputs.arm ?? []).map(parseArm)];
  assertComparableArms(arms);
  return runEvaluation(app, inputs, { mode: 'hybrid', arms }, run);
}

/** Throws `invalid_input`. */
function parseAxes({ policies, models, topK, mode, thresholds, rerank, prompt = [] }: CompareInputs) {
  return {
    policies: parseChoices('--policies', policies, RETRIEVAL_POLICIES),
    models: splitList(models ?? ''),
    topK: parseFlag('--top-k', topK, numberListSchema),
    modes: parseChoices('--mode', mode, SEARCH_MODES),
    thresholds: parseFlag('--thresholds', thresholds, numberListSchema),
    rerank: parseChoices('--rerank', rerank, ['on', 'off']).map((value) => value === 'on'),
    prompts: readPromptFiles(prompt),
  };
}

function parseChoices(flag: string, text: string | undefined, choices: readonly string[]): string[] {
  const values = splitList(text ?? '');
  const invalid = values.find((value) => !choices.includes(value));
  if (invalid === undefined) return values;
  throw new AppError(
    'invalid_input',
    `Invalid value "${invalid}" of ${flag}: choose from ${choices.join(', ')}.`,
  );
}
