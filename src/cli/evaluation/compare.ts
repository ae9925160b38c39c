import * as z from 'zod';
import type { App } from '../../app/create-app.ts';
import { numberListSchema, parseFlag, splitList } from '../../config/parse-value.ts';
import { RETRIEVAL_POLICIES, SEARCH_MODES } from '../../domain/setting-choices.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import {
  assertComparableArms,
  combineArmSettings,
  orderByQuestion,
  parseArm,
} from '../../evaluation/run/plan-arms.ts';
import { AppError } from '../../faults/app-error.ts';
import type { CommandRun } from '../../tape/run-observer.ts';
import { toSettings } from '../commands/read-flags.ts';
import { withApp } from '../commands/with-app.ts';
import type { CommonFlags, TapeFlags } from '../flags/common-flags.ts';
import { runEvaluation } from './evaluate.ts';
import { type EvaluationFlags, type EvaluationInputs, evaluationInputsSchema } from './evaluation-inputs.ts';
import { writeReport } from './write-report.ts';

/** The inputs of `eval` that a tape records. */
export const evalInputsSchema = evaluationInputsSchema.extend({ mode: z.enum(SEARCH_MODES).optional() });
type EvalInputs = z.infer<typeof evalInputsSchema>;

export interface EvalFlags extends EvaluationFlags, EvalInputs {
  topK?: number | undefined;
}

/** The inputs of `compare` that a tape records. */
export const compareInputsSchema = evaluationInputsSchema.extend({
  policies: z.string().optional(),
  models: z.string().optional(),
  topK: z.string().optional(),
  mode: z.string().optional(),
  thresholds: z.string().optional(),
  rerank: z.string().optional(),
  arm: z.array(z.string()).optional(),
  question: z.string().optional(),
});
type CompareInputs = z.infer<typeof compareInputsSchema>;

export interface CompareFlags extends EvaluationFlags, CompareInputs {}

export function runEval({ json, ...flags }: EvalFlags): Promise<void> {
  // The flag is a file, the setting of the same name a list of prices.
  const { prices: _prices, ...settings } = flags;
  return runAndReport('eval', toSettings(settings), { ...flags, json }, (app, run) =>
    evaluateSettings(app, flags, run),
  );
}

export async function runCompare({ json, ...flags }: CompareFlags): Promise<void> {
  // These name arms, or a file, and are no settings of the app.
  const { topK: _topK, mode: _mode, rerank: _rerank, prices: _prices, ...settings } = flags;
  // Rejects wrong values before anything is opened.
  parseAxes(flags);
  await runAndReport('compare', toSettings(settings), { ...flags, json }, (app, run) =>
    compareArms(app, flags, run),
  );
}

function runAndReport(
  command: string,
  settings: CommonFlags & TapeFlags,
  { json, ...flags }: EvaluationFlags,
  evaluate: (app: App, run: CommandRun) => Promise<ReportData>,
): Promise<void> {
  const whenInterrupted = 'Run the same command again to continue.';
  return withApp({ flags: settings, whenInterrupted, taped: { command, flags } }, async (app, run) =>
    writeReport(await evaluate(app, run), app, { ...flags, json }),
  );
}

/** Evaluates the configured settings. */
export function evaluateSettings(
  app: App,
  { mode = 'hybrid', ...inputs }: EvaluationInputs & EvalInputs,
  run: CommandRun,
): Promise<ReportData> {
  const arms = [{ name: app.config.agent.policy, changed: {} }];
  return runEvaluation(app, inputs, { mode, arms }, run);
}

/** Evaluates every arm and compares all pairs. */
export async function compareArms(
  app: App,
  inputs: EvaluationInputs & CompareInputs,
  run: CommandRun,
): Promise<ReportData> {
  const arms = [...combineArmSettings(parseAxes(inputs)), ...(inputs.arm ?? []).map(parseArm)];
  assertComparableArms(arms);
  return runEvaluation(app, inputs, { mode: 'hybrid', arms: orderByQuestion(arms, inputs.question) }, run);
}

/** Throws `invalid_input`. */
function parseAxes({ policies, models, topK, mode, thresholds, rerank }: CompareInputs) {
  return {
    policies: parseChoices('--policies', policies, RETRIEVAL_POLICIES),
    models: splitList(models ?? ''),
    topK: parseFlag('--top-k', topK, numberListSchema),
    modes: parseChoices('--mode', mode, SEARCH_MODES),
    thresholds: parseFlag('--thresholds', thresholds, numberListSchema),
    rerank: parseChoices('--rerank', rerank, ['on', 'off']).map((value) => value === 'on'),
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
