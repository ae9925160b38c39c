import { refuseFailedGates } from '../evaluation/report/gates.ts';
import type { App } from '../wire.ts';
import { settingsOf } from './chat/agent-settings.ts';
import { type EvaluationPlan, evaluate } from './eval/evaluate.ts';
import { writeOutputs } from './eval/write-outputs.ts';
import type { EvalFlags } from './eval.ts';
import { recordedFlags } from './tape/recorded-flags.ts';
import { withApp } from './with-app.ts';

export async function runEval({ json, ...flags }: EvalFlags): Promise<void> {
  await withApp(
    settingsOf(flags),
    async (app, signal, tape) => {
      const report = await evaluate(app, flags, evalPlan(flags, app), signal, tape);
      await writeOutputs(report, { ...flags, json });
      refuseFailedGates(report.gates);
    },
    'Run the same command again to go on from here.',
    { command: 'eval', inputs: { flags: recordedFlags(flags) } },
  );
}

/** One arm, with the settings in force. */
export function evalPlan({ mode = 'hybrid' }: Pick<EvalFlags, 'mode'>, { config }: App): EvaluationPlan {
  return { mode, arms: () => [{ name: config.agent.policy, changed: {} }] };
}
