import { AppError } from '../domain/app-error.ts';
import { POLICIES, SEARCH_MODES } from '../domain/choices.ts';
import { refuseFailedGates } from '../evaluation/report/gates.ts';
import { ablationArms, ablationVerdict } from '../evaluation/run/ablation.ts';
import { armsOfAxes, assertComparable, parseArm } from '../evaluation/run/plan-arms.ts';
import type { App } from '../wire.ts';
import { settingsOf } from './chat/agent-settings.ts';
import type { CompareFlags } from './compare.ts';
import { type EvaluationPlan, evaluate } from './eval/evaluate.ts';
import { writeOutputs } from './eval/write-outputs.ts';
import { recordedFlags } from './tape/recorded-flags.ts';
import { withApp } from './with-app.ts';

export async function runCompare({ json, ...flags }: CompareFlags): Promise<void> {
  // Here they name arms, not one setting.
  const { topK: _topK, mode: _mode, rerank: _rerank, ...settings } = flags;
  // What is misspelt is told before anything is opened.
  axesOf(flags);
  await withApp(
    settingsOf(settings),
    async (app, signal, tape) => {
      const report = await evaluate(app, flags, comparePlan(flags, app), signal, tape);
      const told = flags.ablate ? { ...report, verdict: ablationVerdict(report.comparisons) } : report;
      await writeOutputs(told, { ...flags, json });
      refuseFailedGates(told.gates);
    },
    'Run the same command again to go on from here.',
    { command: 'compare', inputs: { flags: recordedFlags(flags) } },
  );
}

/** The arms that the flags ask for. */
export function comparePlan(flags: CompareFlags, { config }: App): EvaluationPlan {
  const axes = axesOf(flags);
  const { policy } = config.agent;
  return {
    mode: 'hybrid',
    arms({ scoreThreshold, rerank }) {
      const isGiven = Object.values(axes).some((values) => values !== undefined);
      const plans = [
        ...(flags.ablate ? ablationArms({ policy, mode: 'hybrid', rerank, scoreThreshold }) : []),
        ...(isGiven ? armsOfAxes(axes) : []),
        ...(flags.arm ?? []).map(parseArm),
      ];
      assertComparable(plans);
      return plans;
    },
  };
}

/** What the arms differ in. Throws `invalid_input`. */
function axesOf(flags: CompareFlags) {
  return {
    policies: chosen(flags.policies, 'policies', POLICIES),
    models: listOf(flags.models),
    topK: numbers(flags.topK, 'top-k'),
    modes: chosen(flags.mode, 'mode', SEARCH_MODES),
    thresholds: numbers(flags.thresholds, 'thresholds'),
    rerank: chosen(flags.rerank, 'rerank', ['on', 'off'])?.map((value) => value === 'on'),
  };
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
