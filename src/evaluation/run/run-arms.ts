import * as z from 'zod';
import { renameLegacyFields } from '../../domain/migrate-record.ts';
import { type ErrorKind, restated } from '../../faults/app-error.ts';
import { fromErrorResponse } from '../../faults/error-response.ts';
import type { EvaluationCase } from '../cases/evaluation-case.ts';
import { type CaseRun, caseRunSchema } from '../report/case-run.ts';
import { type Budget, budgetUsedUp, noBudget } from './budget.ts';

/** An arm that is ready to be asked. */
export interface OpenArm {
  name: string;
  ask(item: EvaluationCase, repeat: number, signal: AbortSignal): Promise<CaseRun>;
}

interface RunOptions {
  repeat: number;
  /** Questions under way at a time. */
  concurrency: number;
  signal: AbortSignal;
  journal: RunJournal;
  budget?: Budget;
  onProgress?: (progress: RunProgress) => void;
}

export interface RunProgress {
  done: number;
  total: number;
  arm: string;
  item: EvaluationCase;
  run: CaseRun;
  /** Whether an earlier evaluation had left it. */
  reused: boolean;
}

/** Faults that every further question would meet too. */
const HOPELESS: readonly ErrorKind[] = ['auth_error', 'configuration_error', 'replay_drift'];

/**
 * Asks every case in every arm, as often as wanted. Arms take turns case by case, so that none has the quieter half
 * of the time, and each is the first as often as the others: the first finds caches cold. What the journal has is not asked again; what is asked is journalled at once, unless it failed.
 */
export async function runArms(
  cases: readonly EvaluationCase[],
  arms: readonly OpenArm[],
  { repeat, concurrency, signal, journal, budget = noBudget, onProgress }: RunOptions,
): Promise<Map<string, Map<string, CaseRun[]>>> {
  const results = new Map(arms.map(({ name }) => [name, new Map<string, CaseRun[]>()]));
  const jobs = cases.flatMap((item, place) =>
    Array.from({ length: repeat }, (_, index) =>
      rotated(arms, place + index).map((arm) => ({ arm, item, repeat: index + 1 })),
    ).flat(),
  );
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const missing = new Map(arms.map(({ name }) => [name, 0]));
  let next = 0;
  let done = 0;

  const work = async () => {
    while (next < jobs.length) {
      either.throwIfAborted();
      const job = jobs[next++] as (typeof jobs)[number];
      const key = { arm: job.arm.name, caseId: job.item.id, repeat: job.repeat };
      const known = journal.find(key);
      if (known === undefined && !budget.allows(key.arm)) {
        missing.set(key.arm, (missing.get(key.arm) ?? 0) + 1);
        continue;
      }
      const run = known ?? (await job.arm.ask(job.item, job.repeat, either));
      if (known === undefined) budget.settle(key.arm, costOf(run));
      if (known === undefined && run.error === null) await journal.add(key, run);
      refuseHopeless(run);
      keep(key.arm, key.caseId, run);
      done += 1;
      onProgress?.({
        done,
        total: jobs.length,
        arm: key.arm,
        item: job.item,
        run,
        reused: known !== undefined,
      });
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
  if ([...missing.values()].some((count) => count > 0)) throw budgetUsedUp(budget, missing, jobs.length);
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

/** With what its judge took. */
function costOf({ cost, judge, checks }: CaseRun): number {
  return checks.reduce((sum, check) => sum + (check.cost ?? 0), (cost ?? 0) + (judge?.cost ?? 0));
}

function rotated<T>(list: readonly T[], by: number): T[] {
  const from = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(from), ...list.slice(0, from)];
}

/** Where no question was answered in any arm there is nothing to measure; what kept them from it is what matters. */
function refuseNothing(results: ReadonlyMap<string, ReadonlyMap<string, readonly CaseRun[]>>): void {
  const runs = [...results.values()].flatMap((ofArm) => [...ofArm.values()].flat());
  const first = runs[0]?.error;
  if (first == null || runs.some(({ error }) => error === null)) return;
  throw restated(fromErrorResponse(first), `No question was answered. ${first.message}`);
}

function refuseHopeless({ error }: CaseRun): void {
  if (error !== null && HOPELESS.includes(error.errorType)) throw fromErrorResponse(error);
}

interface RunKey {
  arm: string;
  caseId: string;
  repeat: number;
}

/** What was asked already, so that an interrupted evaluation goes on where it stopped. */
export interface RunJournal {
  readonly size: number;
  find(key: RunKey): CaseRun | undefined;
  add(key: RunKey, run: CaseRun): Promise<void>;
}

const lineSchema = z.object({
  arm: z.string(),
  caseId: z.string(),
  repeat: z.int().min(1),
  run: caseRunSchema,
});

/** A journal that begins with the lines of an earlier one and hands on every new line. Lines cut short are left out. */
export function createRunJournal(
  earlier: readonly string[],
  append: (line: string) => Promise<void>,
): RunJournal {
  const runs = new Map<string, CaseRun>();
  for (const line of earlier) {
    const read = readLine(line);
    if (read !== null) runs.set(textOf(read), read.run);
  }
  return {
    get size() {
      return runs.size;
    },
    find: (key) => runs.get(textOf(key)),
    async add({ arm, caseId, repeat }, run) {
      runs.set(textOf({ arm, caseId, repeat }), run);
      await append(`${JSON.stringify({ arm, caseId, repeat, run })}\n`);
    },
  };
}

function readLine(line: string): z.infer<typeof lineSchema> | null {
  try {
    return lineSchema.safeParse(renameLegacyFields(JSON.parse(line))).data ?? null;
  } catch {
    return null;
  }
}

function textOf({ arm, caseId, repeat }: RunKey): string {
  return JSON.stringify([arm, caseId, repeat]);
}
