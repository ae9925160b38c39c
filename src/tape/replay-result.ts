import { type Advice, plainly } from '../faults/advice.ts';
import type { Difference } from './diff-values.ts';
import { explainOutputChange } from './explain-drift.ts';
import type { ReplayOutcome } from './replay-run.ts';
import type { OnMiss } from './replay-tape.ts';
import { collectionChanged, compareOutputs, type RunOutputs } from './run-outputs.ts';
import type { TapeJson } from './tape-format.ts';

/** What came of running a tape again. */
export interface ReplayResult {
  tape: string;
  command: string | null;
  /** Settings other than the recorded ones. */
  changed: Record<string, TapeJson>;
  ok: boolean;
  turns: number;
  /** The first turn that did not go as it was recorded, from 1. */
  firstDifferentTurn: number | null;
  /** Why the two part, most likely; null where they do not. */
  reason: string | null;
  differences: Difference[];
  collectionChanged: boolean | null;
  exchanges: ReplayOutcome<unknown>['exchanges'];
  missing: { message: string; hint: string }[];
  /** Whether what was missing was taken from the live service. */
  live: boolean;
  renewed: boolean;
  outputs: RunOutputs;
}

interface CompareOptions {
  tape: string;
  changed: Record<string, TapeJson>;
  /** Whether the settings are those of today, which are to come to the same: no fork that may not. */
  current?: boolean;
  onMiss: OnMiss;
  /** How the result says what can be done about a call that is not on the tape; plainly unless given. */
  wordAdvice?: (advice: Advice) => string;
}

/**
 * Whether a run came to the same as its tape says, and where it did not. A run with other settings may come to
 * something else; it is only to be found on the tape, or answered by the live service.
 */
export function compareReplay(
  outcome: Omit<ReplayOutcome<unknown>, 'result'>,
  { tape, changed, current = false, onMiss, wordAdvice = plainly }: CompareOptions,
): ReplayResult {
  const { header, recorded, outputs, misses, missReason, context, exchanges, renewed } = outcome;
  const differences = compareOutputs(recorded, outputs);
  const cutOff = outputs.turns.flatMap(({ error }, index) =>
    error?.errorType === 'replay_drift' ? [index + 1] : [],
  );
  const turns = Math.max(recorded.turns.length, outputs.turns.length);
  const parted = Array.from({ length: turns }, (_, index) => index + 1).find((turn) =>
    differences.some(({ path }) => isWithin(path, turn)),
  );
  const live = misses.length > 0 && cutOff.length === 0 && onMiss !== 'fail';
  const isFork = !current && Object.keys(changed).length > 0;
  return {
    tape,
    command: header.command,
    changed,
    ok: (isFork || differences.length === 0) && (misses.length === 0 || live),
    turns: recorded.turns.length,
    firstDifferentTurn: parted ?? null,
    reason: missReason ?? (differences.length === 0 ? null : explainOutputChange(context)),
    // Of a turn that could not go on there is nothing to compare.
    differences: differences.filter(({ path }) => !cutOff.some((turn) => path.startsWith(`turn ${turn}.`))),
    collectionChanged: collectionChanged(recorded, outputs),
    exchanges,
    missing: misses.map(({ message, advice }) => ({ message, hint: advice ? wordAdvice(advice) : '' })),
    live,
    renewed,
    outputs,
  };
}

function isWithin(path: string, turn: number): boolean {
  return path === `turn ${turn}` || path.startsWith(`turn ${turn}.`);
}
