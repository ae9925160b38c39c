import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createRunJournal, type RunJournal } from '../../evaluation/run/run-journal.ts';

export interface RunState {
  journal: RunJournal;
  /** Runs that an earlier, interrupted evaluation has left. */
  resumed: number;
  /** Once the evaluation is complete, nothing is left to go on with. */
  discard(): Promise<void>;
}

interface RunStateOptions {
  /** Forget what an earlier one has left. */
  fresh: boolean;
  /** False for a run that must be whole: a tape holds every call or none. */
  kept: boolean;
}

/** The file that an interrupted evaluation of exactly this goes on from: same cases, settings and documents. */
export async function openRunState(
  home: string,
  identity: unknown,
  { fresh, kept }: RunStateOptions,
): Promise<RunState> {
  if (!kept) return { journal: createRunJournal([], async () => {}), resumed: 0, discard: async () => {} };
  const key = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32);
  const path = join(home, 'evaluations', `${key}.jsonl`);
  if (fresh) await rm(path, { force: true });
  await mkdir(dirname(path), { recursive: true });
  const earlier = await readFile(path, 'utf8').catch(() => '');
  // A line that was cut short must not swallow the next one.
  if (earlier !== '' && !earlier.endsWith('\n')) await appendFile(path, '\n');
  const journal = createRunJournal(
    earlier.split('\n').filter((line) => line !== ''),
    (line) => appendFile(path, line),
  );
  return { journal, resumed: journal.size, discard: () => rm(path, { force: true }) };
}
