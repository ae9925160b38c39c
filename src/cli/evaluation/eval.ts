import * as z from 'zod';
import type { App } from '../../app/create-app.ts';
import { SEARCH_MODES } from '../../domain/choices.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import type { Run } from '../../tape/tape-run.ts';
import { asSettings } from '../commands/read-flags.ts';
import { withApp } from '../commands/with-app.ts';
import { evaluate } from './evaluate.ts';
import { type EvaluationFlags, type EvaluationInputs, evaluationSchema } from './evaluation-inputs.ts';
import { finishEvaluation } from './finish-evaluation.ts';

/** What an evaluation is asked for, as flags and tapes say it. */
export const evalSchema = evaluationSchema.extend({ mode: z.enum(SEARCH_MODES).optional() });

export interface EvalFlags extends EvaluationFlags, z.infer<typeof evalSchema> {
  topK?: number | undefined;
}

export async function runEval({ json, ...flags }: EvalFlags): Promise<void> {
  // A file here, and the prices themselves in the configuration.
  const { prices: _prices, ...settings } = flags;
  await withApp(
    {
      flags: asSettings(settings),
      whenInterrupted: 'Run the same command again to go on from here.',
      taped: { command: 'eval', flags },
    },
    async (app, run) => {
      const report = await evaluateArm(app, flags, run);
      await finishEvaluation(report, app, run, { ...flags, json });
    },
  );
}

/** Measures one arm, with the settings in force. */
export function evaluateArm(
  app: App,
  { mode = 'hybrid', ...inputs }: EvaluationInputs & z.infer<typeof evalSchema>,
  run: Run,
): Promise<ReportData> {
  return evaluate(app, inputs, { mode, arms: () => [{ name: app.config.agent.policy, changed: {} }] }, run);
}
