import * as z from 'zod';
import type { App } from '../../app/create-app.ts';
import { SEARCH_MODES } from '../../domain/choices.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import type { Run } from '../../tape/tape-run.ts';
import { asSettings } from '../commands/read-flags.ts';
import { withApp } from '../commands/with-app.ts';
import { runEvaluation } from './evaluate.ts';
import { type EvaluationFlags, type EvaluationInputs, evaluationInputsSchema } from './evaluation-inputs.ts';
import { writeReport } from './write-report.ts';

/** The inputs of `eval` that a tape records. */
export const evalSchema = evaluationInputsSchema.extend({ mode: z.enum(SEARCH_MODES).optional() });

export interface EvalFlags extends EvaluationFlags, z.infer<typeof evalSchema> {
  topK?: number | undefined;
}

export async function runEval({ json, ...flags }: EvalFlags): Promise<void> {
  // The flag is a file, the setting of the same name a list of prices.
  const { prices: _prices, ...settings } = flags;
  await withApp(
    {
      flags: asSettings(settings),
      whenInterrupted: 'Run the same command again to continue.',
      taped: { command: 'eval', flags },
    },
    async (app, run) => {
      const report = await evaluateArm(app, flags, run);
      await writeReport(report, app, run, { ...flags, json });
    },
  );
}

/** Evaluates the configured settings. */
export function evaluateArm(
  app: App,
  { mode = 'hybrid', ...inputs }: EvaluationInputs & z.infer<typeof evalSchema>,
  run: Run,
): Promise<ReportData> {
  const arms = [{ name: app.config.agent.policy, changed: {} }];
  return runEvaluation(app, inputs, { mode, arms }, run);
}
