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

/** The file that an interrupted evaluation of exactly this goes on from: same cases, settings and documents. */
export async function openRunState(home: string, identity: unknown, fresh: boolean): Promise<RunState> {
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

/** A state that nothing goes on from. */
export function passingRunState(): RunState {
  return { journal: createRunJournal([], async () => {}), resumed: 0, discard: async () => {} };
}
