import { AppError } from '../domain/app-error.ts';
import { POLICIES, SEARCH_MODES } from '../domain/choices.ts';
import { refuseFailedGates } from '../evaluation/report/gates.ts';
import { ablationArms, ablationVerdict } from '../evaluation/run/ablation.ts';
import { armsOfAxes, assertComparable, parseArm } from '../evaluation/run/plan-arms.ts';
import { settingsOf } from './chat/agent-settings.ts';
import type { CompareFlags } from './compare.ts';
import { type EvaluationPlan, evaluate } from './eval/evaluate.ts';
import { writeOutputs } from './eval/write-outputs.ts';
import { withApp } from './with-app.ts';

export async function runCompare({ json, topK, mode, rerank, ...flags }: CompareFlags): Promise<void> {
  const axes = {
    policies: chosen(flags.policies, 'policies', POLICIES),
    models: listOf(flags.models),
    topK: numbers(topK, 'top-k'),
    modes: chosen(mode, 'mode', SEARCH_MODES),
    thresholds: numbers(flags.thresholds, 'thresholds'),
    rerank: chosen(rerank, 'rerank', ['on', 'off'])?.map((value) => value === 'on'),
  };
  await withApp(
    settingsOf(flags),
    async (app, signal) => {
      const { policy } = app.config.agent;
      const arms: EvaluationPlan['arms'] = ({ scoreThreshold, rerank: isReranked }) => {
        const isGiven = Object.values(axes).some((values) => values !== undefined);
        const plans = [
          ...(flags.ablate
            ? ablationArms({ policy, mode: 'hybrid', rerank: isReranked, scoreThreshold })
            : []),
          ...(isGiven ? armsOfAxes(axes) : []),
          ...(flags.arm ?? []).map(parseArm),
        ];
        assertComparable(plans);
        return plans;
      };
      const report = await evaluate(app, flags, { mode: 'hybrid', arms }, signal);
      const told = flags.ablate ? { ...report, verdict: ablationVerdict(report.comparisons) } : report;
      await writeOutputs(told, { ...flags, json });
      refuseFailedGates(told.gates);
    },
    'Run the same command again to go on from here.',
    { command: 'compare', inputs: { cases: flags.cases ?? '' } },
  );
}

function listOf(text: string | undefined): string[] | undefined {
  const values = text
    ?.split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
  return values?.length ? values : undefined;
}

function chosen(text: string | undefined, flag: string, choices: readonly string[]): string[] | undefined {
  const values = listOf(text);
  const wrong = values?.find((value) => !choices.includes(value));
  if (wrong === undefined) return values;
  throw new AppError('invalid_input', `--${flag} has "${wrong}", which is none of ${choices.join(', ')}.`);
}

function numbers(text: string | undefined, flag: string): number[] | undefined {
  const values = listOf(text)?.map(Number);
  if (values?.some((value) => !Number.isFinite(value))) {
    throw new AppError('invalid_input', `--${flag} must be numbers with commas between them.`);
  }
  return values;
}
