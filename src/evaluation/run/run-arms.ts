import * as z from 'zod';
import { renameLegacyFields } from '../../domain/migrate-record.ts';
import { AppError, type ErrorKind, withMessage } from '../../faults/app-error.ts';
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
  /** Money that must not be exceeded. */
  budget?: number | undefined;
  /** `reused`: the run comes from the journal. */
  onProgress?: (progress: {
    done: number;
    total: number;
    arm: string;
    run: CaseRun;
    reused: boolean;
  }) => void;
}

/** Runs by arm name and case id. */
export type RunResults = Map<string, Map<string, CaseRun[]>>;

/** What a question may cost compared with the most expensive one so far. */
const RESERVE_FACTOR = 1.5;

/** Errors that every further question would meet, too. */
const FATAL_ERRORS: readonly ErrorKind[] = ['auth_error', 'configuration_error'];

/**
 * Asks every case in every arm. Arms alternate case by case, each first as often as the others, so that caches and load
 * favor none. Runs in the journal are not repeated; new runs are added to it unless they failed. Throws the first fatal
 * error, `gate_failed` if the budget is used up, and the error of the runs if all of them failed.
 */
export async function runArms(
  cases: readonly EvaluationCase[],
  arms: readonly RunnableArm[],
  { repeat, concurrency, signal, journal, budget = Number.POSITIVE_INFINITY, onProgress }: RunArmsOptions,
): Promise<RunResults> {
  const results: RunResults = new Map(arms.map(({ name }) => [name, new Map<string, CaseRun[]>()]));
  const jobs = cases.flatMap((item, place) =>
    Array.from({ length: repeat }, (_, index) =>
      rotate(arms, place + index).map((arm) => ({ arm, item, repeat: index + 1 })),
    ).flat(),
  );
  const failure = new AbortController();
  const stopped = AbortSignal.any([signal, failure.signal]);
  let next = 0;
  let done = 0;
  let running = 0;
  let missing = 0;
  let spent = 0;
  let highestCost = 0;

  const work = async () => {
    while (next < jobs.length) {
      stopped.throwIfAborted();
      const { arm, item, repeat: time } = jobs[next++] as (typeof jobs)[number];
      const key = { arm: arm.name, caseId: item.id, repeat: time };
      const known = journal.find(key);
      const reserved = (running + 1) * RESERVE_FACTOR * highestCost;
      if (known === undefined && (spent + reserved > budget || spent >= budget)) {
        missing += 1;
        continue;
      }
      running += 1;
      const run = known ?? (await arm.ask(item, time, stopped));
      running -= 1;
      if (known === undefined) {
        spent += totalCost(run);
        highestCost = Math.max(highestCost, totalCost(run));
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
      onProgress?.({ done, total: jobs.length, arm: arm.name, run, reused: known !== undefined });
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
  if (missing > 0) {
    throw new AppError(
      'gate_failed',
      `The budget is used up after ${Number(spent.toPrecision(4))}: ${missing} of ${jobs.length} answers are missing.`,
      { hint: 'Run the same command with a larger --budget to continue.' },
    );
  }
  assertAnyAnswer(results);
  return results;
}

function totalCost({ cost, grade, checks }: CaseRun): number {
  return checks.reduce((sum, check) => sum + (check.cost ?? 0), (cost ?? 0) + (grade?.cost ?? 0));
}

function rotate<T>(list: readonly T[], by: number): T[] {
  const from = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(from), ...list.slice(0, from)];
}

function assertAnyAnswer(results: RunResults): void {
  const runs = [...results.values()].flatMap((ofArm) => [...ofArm.values()].flat());
  const first = runs[0]?.error;
  if (first == null || first.errorType === 'replay_drift' || runs.some(({ error }) => error === null)) return;
  throw withMessage(fromErrorResponse(first), `No question was answered. ${first.message}`);
}

const journalLineSchema = z.object({
  arm: z.string(),
  caseId: z.string(),
  repeat: z.int().min(1),
  run: caseRunSchema,
});
type RunKey = Omit<z.infer<typeof journalLineSchema>, 'run'>;

/** Finished runs, so that an interrupted evaluation continues where it stopped. */
export type RunJournal = ReturnType<typeof createRunJournal>;

/** Starts with the lines of an earlier journal and passes new lines to `append`. Truncated lines are skipped. */
export function createRunJournal(earlier: readonly string[], append: (line: string) => Promise<void>) {
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
    find: (key: RunKey) => runs.get(toKey(key)),
    async add({ arm, caseId, repeat }: RunKey, run: CaseRun) {
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
