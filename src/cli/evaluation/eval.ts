import * as z from 'zod';
import type { App } from '../../app/create-app.ts';
import { SEARCH_MODES } from '../../domain/setting-choices.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import type { CommandRun } from '../../tape/run-observer.ts';
import { toSettings } from '../commands/read-flags.ts';
import { withApp } from '../commands/with-app.ts';
import { runEvaluation } from './evaluate.ts';
import { type EvaluationFlags, type EvaluationInputs, evaluationInputsSchema } from './evaluation-inputs.ts';
import { writeReport } from './write-report.ts';

/** The inputs of `eval` that a tape records. */
export const evalInputsSchema = evaluationInputsSchema.extend({ mode: z.enum(SEARCH_MODES).optional() });

export interface EvalFlags extends EvaluationFlags, z.infer<typeof evalInputsSchema> {
  topK?: number | undefined;
}

export async function runEval({ json, ...flags }: EvalFlags): Promise<void> {
  // The flag is a file, the setting of the same name a list of prices.
  const { prices: _prices, ...settings } = flags;
  await withApp(
    {
      flags: toSettings(settings),
      whenInterrupted: 'Run the same command again to continue.',
      taped: { command: 'eval', flags },
    },
    async (app, run) => {
      const report = await evaluateSettings(app, flags, run);
      await writeReport(report, app, run, { ...flags, json });
    },
  );
}

/** Evaluates the configured settings. */
export function evaluateSettings(
  app: App,
  { mode = 'hybrid', ...inputs }: EvaluationInputs & z.infer<typeof evalInputsSchema>,
  run: CommandRun,
): Promise<ReportData> {
  const arms = [{ name: app.config.agent.policy, changed: {} }];
  return runEvaluation(app, inputs, { mode, arms }, run);
}
