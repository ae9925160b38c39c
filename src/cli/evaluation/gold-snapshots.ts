import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { type EvaluationCase, type GoldPin, goldPinSchema } from '../../evaluation/cases/evaluation-case.ts';
import { type GoldPins, goldKey } from '../../evaluation/cases/gold-pins.ts';
import { writeFileAtomic } from '../../files/write-file-atomic.ts';

/** Pins with their date, by collection and gold key. */
const snapshotsSchema = z.record(
  z.string(),
  z.record(z.string(), z.strictObject({ date: z.string(), pins: z.array(goldPinSchema) })),
);

/** The pins of these cases from when they were first measured or last accepted. Cases without any are left out. */
export async function readGoldPins(
  home: string,
  collection: string,
  cases: readonly EvaluationCase[],
): Promise<GoldPins> {
  const saved = (await readSnapshots(home))[collection] ?? {};
  return new Map(
    cases.flatMap((item): [string, readonly GoldPin[]][] => {
      const found = saved[goldKey(item)];
      return found === undefined ? [] : [[item.id, found.pins]];
    }),
  );
}

interface SaveOptions {
  collection: string;
  date: string;
  /** Also replaces pins that are saved already. */
  overwrite: boolean;
}

export async function saveGoldPins(
  home: string,
  cases: readonly EvaluationCase[],
  pins: GoldPins,
  { collection, date, overwrite }: SaveOptions,
): Promise<void> {
  const snapshots = await readSnapshots(home);
  const saved = { ...snapshots[collection] };
  for (const item of cases) {
    const ownPins = pins.get(item.id) ?? [];
    const key = goldKey(item);
    if (ownPins.length > 0 && (overwrite || !Object.hasOwn(saved, key)))
      saved[key] = { date, pins: [...ownPins] };
  }
  await writeFileAtomic(snapshotsPath(home), `${JSON.stringify({ ...snapshots, [collection]: saved })}\n`);
}

/** A missing or unreadable file counts as empty. */
async function readSnapshots(home: string): Promise<z.infer<typeof snapshotsSchema>> {
  try {
    return snapshotsSchema.parse(JSON.parse(await readFile(snapshotsPath(home), 'utf8')));
  } catch {
    return {};
  }
}

function snapshotsPath(home: string): string {
  return join(home, 'evaluations', 'gold.json');
}
