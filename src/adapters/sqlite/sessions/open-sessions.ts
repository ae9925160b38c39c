import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../open-database.ts';
import { isBusy } from '../store-fault.ts';
import { transaction } from '../transaction.ts';
import { createSchema, hasSchema } from './schema.ts';

/** Opens the file as it is; null if there is none yet or nothing in it. */
export function openSessions(path: string, timeout: number): DatabaseSync | null {
  if (!existsSync(path)) return null;
  return withDatabase(path, timeout, (database) => {
    if (hasSchema(database, path)) return database;
    database.close();
    return null;
  });
}

/** Opens the file, made first if need be. Another process may do so at the same moment. */
export function openOrCreateSessions(path: string, timeout: number): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true });
  // Conversations are for their owner alone; what SQLite puts beside the file takes over its mode.
  closeSync(openSync(path, 'a', 0o600));
  return withDatabase(path, timeout, (database) => {
    if (hasSchema(database, path)) return database;
    preferWal(database);
    transaction(database, () => {
      if (!hasSchema(database, path)) createSchema(database);
    });
    return database;
  });
}

/** Opens the file and hands it to `use`, which closes it or passes it on; if that fails, it is closed here. */
function withDatabase<T>(path: string, timeout: number, use: (database: DatabaseSync) => T): T {
  const database = openDatabase(path, timeout);
  try {
    // An answer that a person has seen must outlast a power cut, and a deleted one must be gone.
    database.exec('PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;');
    return use(database);
  } catch (error) {
    if (database.isOpen) database.close();
    throw error;
  }
}

/** Faster, and readers need not wait; but if another process has the file just now, it works as well without. */
function preferWal(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA journal_mode = WAL');
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}
