import * as z from 'zod';
import { renameLegacyFields } from '../../domain/migrate-record.ts';
import { AppError, type ErrorKind, restated } from '../../faults/app-error.ts';
import { fromErrorResponse } from '../../faults/error-response.ts';
import type { EvaluationCase } from '../cases/evaluation-case.ts';
import { type CaseRun, caseRunSchema } from '../report/case-run.ts';

/** An arm that can be asked. */
export interface RunnableArm {
  name: string;
  ask(item: EvaluationCase, repeat: number, signal: AbortSignal): Promise<CaseRun>;
}

interface RunArmsOptions {
  repeat: number;
  /** Questions at a time. */
  concurrency: number;
  signal: AbortSignal;
  journal: RunJournal;
  budget?: CostBudget;
  onProgress?: (progress: RunProgress) => void;
}

export interface RunProgress {
  done: number;
  total: number;
  arm: string;
  item: EvaluationCase;
  run: CaseRun;
  /** Whether it comes from the journal. */
  reused: boolean;
}

/** Runs by arm name and case id. */
export type RunResults = Map<string, Map<string, CaseRun[]>>;

/** Errors that every further question would meet, too. */
const FATAL_ERRORS: readonly ErrorKind[] = ['auth_error', 'configuration_error', 'replay_drift'];

/**
 * Asks every case in every arm. Arms alternate case by case, each first as often as the others, so that caches and load
 * favor none. Runs in the journal are not repeated; new runs are added to it unless they failed. Throws the first fatal
 * error, `gate_failed` if the budget is used up, and the error of the runs if all of them failed.
 */
export async function runArms(
  cases: readonly EvaluationCase[],
  arms: readonly RunnableArm[],
  { repeat, concurrency, signal, journal, budget = unlimitedBudget, onProgress }: RunArmsOptions,
): Promise<RunResults> {
  const results: RunResults = new Map(arms.map(({ name }) => [name, new Map<string, CaseRun[]>()]));
  const jobs = cases.flatMap((item, place) =>
    Array.from({ length: repeat }, (_, index) =>
      rotate(arms, place + index).map((arm) => ({ arm, item, repeat: index + 1 })),
    ).flat(),
  );
  const failure = new AbortController();
  const stopped = AbortSignal.any([signal, failure.signal]);
  const missing = new Map(arms.map(({ name }) => [name, 0]));
  let next = 0;
  let done = 0;

  const work = async () => {
    while (next < jobs.length) {
      stopped.throwIfAborted();
      const { arm, item, repeat: time } = jobs[next++] as (typeof jobs)[number];
      const key = { arm: arm.name, caseId: item.id, repeat: time };
      const known = journal.find(key);
      if (known === undefined && !budget.reserve(arm.name)) {
        missing.set(arm.name, (missing.get(arm.name) ?? 0) + 1);
        continue;
      }
      const run = known ?? (await arm.ask(item, time, stopped));
      if (known === undefined) {
        budget.settle(arm.name, totalCost(run));
        if (run.error === null) await journal.add(key, run);
      }
      if (run.error !== null && FATAL_ERRORS.includes(run.error.errorType))
        throw fromErrorResponse(run.error);
      const ofArm = results.get(arm.name);
      const runs = [...(ofArm?.get(item.id) ?? []), run];
      ofArm?.set(
        item.id,
        runs.toSorted((a, b) => a.repeat - b.repeat),
      );
      done += 1;
      onProgress?.({ done, total: jobs.length, arm: arm.name, item, run, reused: known !== undefined });
    }
  };
  const workers = Array.from({ length: Math.min(concurrency, jobs.length) }, () =>
    work().catch((error: unknown) => {
      failure.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(workers);
  stopped.throwIfAborted();
  if ([...missing.values()].some((count) => count > 0)) {
    throw budgetExceededError(budget.spent, missing, jobs.length);
  }
  assertAnyAnswer(results);
  return results;
}

function totalCost({ cost, judge, checks }: CaseRun): number {
  return checks.reduce((sum, check) => sum + (check.cost ?? 0), (cost ?? 0) + (judge?.cost ?? 0));
}

function rotate<T>(list: readonly T[], by: number): T[] {
  const from = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(from), ...list.slice(0, from)];
}

function assertAnyAnswer(results: RunResults): void {
  const runs = [...results.values()].flatMap((ofArm) => [...ofArm.values()].flat());
  const first = runs[0]?.error;
  if (first == null || runs.some(({ error }) => error === null)) return;
  throw restated(fromErrorResponse(first), `No question was answered. ${first.message}`);
}

interface RunKey {
  arm: string;
  caseId: string;
  repeat: number;
}

/** Finished runs, so that an interrupted evaluation continues where it stopped. */
export interface RunJournal {
  readonly size: number;
  find(key: RunKey): CaseRun | undefined;
  add(key: RunKey, run: CaseRun): Promise<void>;
}

const journalLineSchema = z.object({
  arm: z.string(),
  caseId: z.string(),
  repeat: z.int().min(1),
  run: caseRunSchema,
});

/** Starts with the lines of an earlier journal and passes new lines to `append`. Truncated lines are skipped. */
export function createRunJournal(
  earlier: readonly string[],
  append: (line: string) => Promise<void>,
): RunJournal {
  const toKey = ({ arm, caseId, repeat }: RunKey) => JSON.stringify([arm, caseId, repeat]);
  const runs = new Map<string, CaseRun>();
  for (const line of earlier) {
    const parsed = parseJournalLine(line);
    if (parsed !== null) runs.set(toKey(parsed), parsed.run);
  }
  return {
    get size() {
      return runs.size;
    },
    find: (key) => runs.get(toKey(key)),
    async add({ arm, caseId, repeat }, run) {
      runs.set(toKey({ arm, caseId, repeat }), run);
      await append(`${JSON.stringify({ arm, caseId, repeat, run })}\n`);
    },
  };
}

function parseJournalLine(line: string): z.infer<typeof journalLineSchema> | null {
  try {
    return journalLineSchema.safeParse(renameLegacyFields(JSON.parse(line))).data ?? null;
  } catch {
    return null;
  }
}

/** Limits the money spent on questions. */
interface CostBudget {
  /** Whether another question of this arm fits; if so, its likely cost is reserved. */
  reserve(arm: string): boolean;
  /** Replaces a reservation by the actual cost. */
  settle(arm: string, cost: number): void;
  readonly spent: number;
}

const unlimitedBudget: CostBudget = { reserve: () => true, settle() {}, spent: 0 };

/** The next question may cost this much more than the most expensive one so far. */
const RESERVE_FACTOR = 1.5;

/** A question is reserved 1.5 times the highest cost of its arm so far; the cost of the very first one is unknown. */
export function createBudget(limit: number): CostBudget {
  const highest = new Map<string, number>();
  const reservations: { arm: string; amount: number }[] = [];
  let spent = 0;
  return {
    reserve(arm) {
      const amount = RESERVE_FACTOR * (highest.get(arm) ?? Math.max(0, ...highest.values()));
      const committed = reservations.reduce((sum, each) => sum + each.amount, spent);
      if (committed + amount > limit || committed >= limit) return false;
      reservations.push({ arm, amount });
      return true;
    },
    settle(arm, cost) {
      const index = reservations.findIndex((each) => each.arm === arm);
      if (index >= 0) reservations.splice(index, 1);
      spent += cost;
      highest.set(arm, Math.max(cost, highest.get(arm) ?? 0));
    },
    get spent() {
      return spent;
    },
  };
}

/** Lists the number of missing answers by arm. */
function budgetExceededError(spent: number, missing: ReadonlyMap<string, number>, total: number): AppError {
  const arms = [...missing].filter(([, count]) => count > 0);
  const count = arms.reduce((sum, [, each]) => sum + each, 0);
  const byArm = arms.map(([arm, each]) => `${each} of ${arm}`).join(', ');
  return new AppError(
    'gate_failed',
    `The budget is used up after ${Number(spent.toPrecision(4))}: ${count} of ${total} answers are missing (${byArm}).`,
    { hint: 'Run the same command with a larger --budget to continue.' },
  );
}
