import type { ErrorKind } from '../../domain/app-error.ts';
import { AppError } from '../../domain/app-error.ts';
import type { EvaluationCase } from '../cases/evaluation-case.ts';
import type { CaseRun } from '../report/report-data.ts';
import type { RunJournal } from './run-journal.ts';

/** An arm that is ready to be asked. */
export interface OpenArm {
  name: string;
  ask(item: EvaluationCase, repeat: number, signal: AbortSignal): Promise<CaseRun>;
}

export interface RunOptions {
  repeat: number;
  /** Questions under way at a time. */
  concurrency: number;
  signal: AbortSignal;
  journal: RunJournal;
  onProgress?: (progress: { done: number; total: number; arm: string }) => void;
}

/** Faults that every further question would meet too. */
const HOPELESS: readonly ErrorKind[] = ['auth_error', 'configuration_error', 'replay_drift'];

/**
 * Asks every case in every arm, as often as wanted. Arms take turns case by case, so that none has the quieter half
 * of the time. What the journal has is not asked again; what is asked is journalled at once, unless it failed.
 */
export async function runArms(
  cases: readonly EvaluationCase[],
  arms: readonly OpenArm[],
  { repeat, concurrency, signal, journal, onProgress }: RunOptions,
): Promise<Map<string, Map<string, CaseRun[]>>> {
  const results = new Map(arms.map(({ name }) => [name, new Map<string, CaseRun[]>()]));
  const jobs = cases.flatMap((item) =>
    Array.from({ length: repeat }, (_, index) =>
      arms.map((arm) => ({ arm, item, repeat: index + 1 })),
    ).flat(),
  );
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  let next = 0;
  let done = 0;

  const work = async () => {
    while (next < jobs.length) {
      either.throwIfAborted();
      const job = jobs[next++] as (typeof jobs)[number];
      const key = { arm: job.arm.name, caseId: job.item.id, repeat: job.repeat };
      const known = journal.find(key);
      const run = known ?? (await job.arm.ask(job.item, job.repeat, either));
      if (known === undefined && run.error === null) await journal.add(key, run);
      refuseHopeless(run);
      keep(key.arm, key.caseId, run);
      done += 1;
      onProgress?.({ done, total: jobs.length, arm: key.arm });
    }
  };
  const workers = Array.from({ length: Math.min(concurrency, jobs.length) }, () =>
    work().catch((error: unknown) => {
      // The others must not go on asking for an evaluation that has failed.
      stop.abort(error);
      throw error;
    }),
  );
  const outcomes = await Promise.allSettled(workers);
  signal.throwIfAborted();
  if (stop.signal.aborted) throw stop.signal.reason;
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  refuseNothing(results);
  return results;

  function keep(arm: string, caseId: string, run: CaseRun): void {
    const ofArm = results.get(arm);
    const runs = ofArm?.get(caseId) ?? [];
    ofArm?.set(
      caseId,
      [...runs, run].sort((a, b) => a.repeat - b.repeat),
    );
  }
}

/** Where no question was answered in any arm there is nothing to measure; what kept them from it is what matters. */
function refuseNothing(results: ReadonlyMap<string, ReadonlyMap<string, readonly CaseRun[]>>): void {
  const runs = [...results.values()].flatMap((ofArm) => [...ofArm.values()].flat());
  const first = runs[0]?.error;
  if (first == null || runs.some(({ error }) => error === null)) return;
  throw new AppError(first.errorType, `No question was answered. ${first.message}`, {
    hint: first.userMessage,
  });
}

function refuseHopeless({ error }: CaseRun): void {
  if (error === null || !HOPELESS.includes(error.errorType)) return;
  throw new AppError(error.errorType, error.message, { hint: error.userMessage });
}
