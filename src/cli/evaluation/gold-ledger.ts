import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { type Pin, pinSchema } from '../../evaluation/cases/pin.ts';
import { goldKey } from '../../evaluation/cases/pin-gold.ts';
import { writeFileAtomic } from '../../files/write-file-atomic.ts';

/** What gold rested on, and when that was noted: by collection, and by what a case asks and expects. */
const ledgerSchema = z.record(
  z.string(),
  z.record(z.string(), z.strictObject({ date: z.string(), pins: z.array(pinSchema) })),
);
type Ledger = z.infer<typeof ledgerSchema>;

type Pins = Map<string, readonly Pin[]>;

/** What the gold of these cases rested on when it was first measured, or accepted since; by the id of the case. */
export async function notedPins(
  home: string,
  collection: string,
  cases: readonly EvaluationCase[],
): Promise<Pins> {
  const noted = (await readLedger(home))[collection] ?? {};
  return new Map(
    cases.flatMap((item): [string, readonly Pin[]][] => {
      const found = noted[goldKey(item)];
      return found === undefined ? [] : [[item.id, found.pins]];
    }),
  );
}

interface NoteOptions {
  collection: string;
  date: string;
  /** Also of cases of which something is noted already. */
  anew: boolean;
}

/** Notes what the gold of cases rests on now. */
export async function notePins(
  home: string,
  cases: readonly EvaluationCase[],
  pins: ReadonlyMap<string, readonly Pin[]>,
  { collection, date, anew }: NoteOptions,
): Promise<void> {
  const ledger = await readLedger(home);
  const noted = { ...ledger[collection] };
  for (const item of cases) {
    const own = pins.get(item.id) ?? [];
    const key = goldKey(item);
    if (own.length > 0 && (anew || !Object.hasOwn(noted, key))) noted[key] = { date, pins: [...own] };
  }
  await writeFileAtomic(pathIn(home), `${JSON.stringify({ ...ledger, [collection]: noted })}\n`);
}

/** What cannot be read is as if nothing had been noted. */
async function readLedger(home: string): Promise<Ledger> {
  try {
    return ledgerSchema.parse(JSON.parse(await readFile(pathIn(home), 'utf8')));
  } catch {
    return {};
  }
}

function pathIn(home: string): string {
  return join(home, 'evaluations', 'gold.json');
}
