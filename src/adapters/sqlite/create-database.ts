import type { DatabaseSync } from 'node:sqlite';
import type { CollectionIdentity } from '../../domain/collection-identity.ts';
import { writeMeta } from './collection-meta.ts';
import { createSchema, hasSchema } from './schema.ts';
import { isBusy } from './store-fault.ts';
import { transaction } from './transaction.ts';

const RETRY_MS = 10;

/** Makes a collection of an empty file. Another process may do so at the same moment: one of them wins. */
export function createDatabase(
  database: DatabaseSync,
  path: string,
  identity: CollectionIdentity,
  timeout: number,
): void {
  patiently(timeout, () => database.exec('PRAGMA page_size = 8192; PRAGMA journal_mode = WAL;'));
  transaction(database, () => {
    if (hasSchema(database, path)) return;
    createSchema(database);
    const now = new Date().toISOString();
    writeMeta(database, { ...identity, createdAt: now, updatedAt: now });
  });
}

/** SQLite does not wait for its lock by itself when the journal mode changes. */
function patiently(timeout: number, work: () => void): void {
  const deadline = performance.now() + timeout;
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}
