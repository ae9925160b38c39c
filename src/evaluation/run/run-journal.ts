import * as z from 'zod';
import { type CaseRun, caseRunSchema } from '../report/report-data.ts';

export interface RunKey {
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
    return lineSchema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}

function textOf({ arm, caseId, repeat }: RunKey): string {
  return JSON.stringify([arm, caseId, repeat]);
}
