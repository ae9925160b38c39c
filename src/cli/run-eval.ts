import { refuseFailedGates } from '../evaluation/report/gates.ts';
import { settingsOf } from './chat/agent-settings.ts';
import { evaluate } from './eval/evaluate.ts';
import { writeOutputs } from './eval/write-outputs.ts';
import type { EvalFlags } from './eval.ts';
import { withApp } from './with-app.ts';

export async function runEval({ json, ...flags }: EvalFlags): Promise<void> {
  await withApp(
    settingsOf(flags),
    async (app, signal) => {
      const { policy } = app.config.agent;
      const plan = { mode: flags.mode ?? 'hybrid', arms: () => [{ name: policy, changed: {} }] };
      const report = await evaluate(app, flags, plan, signal);
      await writeOutputs(report, { ...flags, json });
      refuseFailedGates(report.gates);
    },
    'Run the same command again to go on from here.',
    { command: 'eval', inputs: { cases: flags.cases ?? '' } },
  );
}
