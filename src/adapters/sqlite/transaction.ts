import type { DatabaseSync } from 'node:sqlite';

/** Runs `work` in a transaction that takes the write lock at once, since a later upgrade could fail without waiting. */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  return within(database, 'BEGIN IMMEDIATE', work);
}

/** Runs `work` on one state of the file, whatever other processes write meanwhile. Inside a transaction that is so anyway. */
export function snapshot<T>(database: DatabaseSync, work: () => T): T {
  return database.isTransaction ? work() : within(database, 'BEGIN', work);
}

function within<T>(database: DatabaseSync, begin: string, work: () => T): T {
  database.exec(begin);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
