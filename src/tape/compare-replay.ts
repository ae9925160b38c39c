import { type Advice, formatPlainAdvice } from '../faults/advice.ts';
import { compareRunOutputs, turnPath } from './compare-run-outputs.ts';
import type { JsonDifference } from './diff-json.ts';
import { explainOutputChange } from './explain-drift.ts';
import type { ReplayOutcome } from './replay-run.ts';
import type { OnMiss } from './replay-tape.ts';
import type { RunOutputs } from './run-outputs.ts';
import type { TapeJson } from './tape-format.ts';

/** The comparison of a replayed run with its tape. */
export interface ReplayComparison {
  tape: string;
  command: string | null;
  /** Settings that differ from the recorded ones. */
  changed: Record<string, TapeJson>;
  ok: boolean;
  turns: number;
  /** Number of the first turn that differs, from 1. */
  firstDifferentTurn: number | null;
  /** The likely reason of the first difference. */
  reason: string | null;
  differences: JsonDifference[];
  /** Null if unknown. */
  collectionChanged: boolean | null;
  exchanges: ReplayOutcome<unknown>['exchanges'];
  missing: { message: string; hint: string }[];
  /** Whether the live service answered what was missing. */
  live: boolean;
  renewed: boolean;
  outputs: RunOutputs;
}

interface CompareReplayOptions {
  tape: string;
  changed: Record<string, TapeJson>;
  /** Whether changed settings must give the same outputs, unlike those of a fork. */
  current?: boolean;
  onMiss: OnMiss;
  formatAdvice?: (advice: Advice) => string;
}

/** The outputs of a run with changed settings may differ, but all its requests must be answered. */
export function compareReplay(
  outcome: Omit<ReplayOutcome<unknown>, 'result'>,
  { tape, changed, current = false, onMiss, formatAdvice = formatPlainAdvice }: CompareReplayOptions,
): ReplayComparison {
  const { header, recorded, outputs, misses, missReason, context, exchanges, renewed } = outcome;
  const differences = compareRunOutputs(recorded, outputs);
  const turns = Math.max(recorded.turns.length, outputs.turns.length);
  const turnPaths = Array.from({ length: turns }, (_, index) => turnPath(index));
  const isWithin = ({ path }: JsonDifference, turn: string) => path === turn || path.startsWith(`${turn}.`);
  const firstDifferent = turnPaths.findIndex((turn) => differences.some((each) => isWithin(each, turn)));
  const cutTurns = turnPaths.filter((_, index) => outputs.turns[index]?.error?.errorType === 'replay_drift');
  const live = misses.length > 0 && cutTurns.length === 0 && onMiss !== 'fail';
  const isFork = !current && Object.keys(changed).length > 0;
  return {
    tape,
    command: header.command,
    changed,
    ok: (isFork || differences.length === 0) && (misses.length === 0 || live),
    turns: recorded.turns.length,
    firstDifferentTurn: firstDifferent < 0 ? null : firstDifferent + 1,
    reason: missReason ?? (differences.length === 0 ? null : explainOutputChange(context)),
    // A turn that was cut off by a miss has nothing to compare.
    differences: differences.filter(({ path }) => !cutTurns.some((turn) => path.startsWith(`${turn}.`))),
    collectionChanged: context.collectionChanged,
    exchanges,
    missing: misses.map(({ message, advice }) => ({ message, hint: advice ? formatAdvice(advice) : '' })),
    live,
    renewed,
    outputs,
  };
}
