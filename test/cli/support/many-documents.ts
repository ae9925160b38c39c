import type { ChildProcess } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

export const MANY = 280;

/** Documents that are stored quickly and take some time to embed. */
export function manyDocuments(): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: MANY }, (_, i) => [
      `${String(i).padStart(3, '0')}.md`,
      `Thing ${i} is this. `.repeat(i < 256 ? 1 : 30),
    ]),
  );
}

/** Resolves when the first document is stored, or the process has exited. */
export async function oneStored(collection: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && child.signalCode === null && documentsIn(collection) === 0)
    await delay(5);
}

/** The number of stored documents, read by another process; 0 before the collection exists. */
function documentsIn(collection: string): number {
  try {
    const database = new DatabaseSync(collection, { readOnly: true });
    try {
      return Number(database.prepare('SELECT count(*) AS n FROM document').get()?.n);
    } finally {
      database.close();
    }
  } catch {
    return 0;
  }
}
