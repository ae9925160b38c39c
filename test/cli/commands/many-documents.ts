import type { ChildProcess } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

export const MANY = 280;
/** As many as are embedded and committed together. */
const SHORT = 256;

/**
 * Something to interrupt: short documents that are committed together, and then longer ones, which take a while: this
 * many sentences each.
 */
export function manyDocuments(sentences: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: MANY }, (_, i) => [
      `${String(i).padStart(3, '0')}.md`,
      `Thing ${i} is this. `.repeat(i < SHORT ? 1 : sentences),
    ]),
  );
}

/** When a first document is committed, or the process has ended without. */
export async function oneStored(collection: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && child.signalCode === null && documentsIn(collection) === 0)
    await delay(5);
}

/** How many documents are committed, as another process sees it; none before the collection is there. */
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
