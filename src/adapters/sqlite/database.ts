import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Advice } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { isBusyError, isWriteRefusedError } from './sqlite-error.ts';

const RETRY_MS = 10;

/** Opens a database and passes it to `use`, which closes or keeps it; it is closed if `use` throws. */
export function withDatabase<T>(path: string, timeout: number, use: (database: DatabaseSync) => T): T {
  const database = openDatabase(path, timeout);
  try {
    return use(database);
  } catch (error) {
    if (database.isOpen) database.close();
    throw error;
  }
}

/** Creates an empty file if there is none. Opens read-only where writing is not permitted. */
export function openDatabase(path: string, timeout: number): DatabaseSync {
  try {
    return connect(path, { timeout });
  } catch (error) {
    // Even a reader of a WAL file writes beside it. Without that, the file alone can be read if it is complete.
    if (!isWriteRefusedError(error) || !isComplete(path)) throw error;
    return connect(`${pathToFileURL(path).href}?immutable=1`, { timeout, readOnly: true });
  }
}

function connect(location: string, options: { timeout: number; readOnly?: boolean }): DatabaseSync {
  const database = new DatabaseSync(location, options);
  try {
    // The last pragma reads the file, so that errors are thrown here.
    database.exec('PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA schema_version;');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Whether the file exists and its write-ahead log is empty. */
function isComplete(path: string): boolean {
  return fileBytes(path) > 0 && fileBytes(`${path}-wal`) === 0;
}

/** 0 if it does not exist. */
export function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Takes the write lock at once: upgrading a read lock later could fail without waiting. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  return within(database, 'BEGIN IMMEDIATE', work);
}

/** Reads one state of the file, whatever other processes write meanwhile. */
export function inSnapshot<T>(database: DatabaseSync, work: () => T): T {
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

/** SQLite does not wait for the lock that changing the journal mode needs. */
export function enableWal(database: DatabaseSync, timeout: number): void {
  const deadline = performance.now() + timeout;
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusyError(error) || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

/** Identifies what a file contains. */
export interface SqliteFileFormat {
  applicationId: number;
  /** The version that this program reads and writes. */
  version: number;
  /** Such as "a citeloop collection". */
  contents: string;
  /** What to do about an older version that cannot be upgraded. */
  olderHint: string | Advice;
  /** Converts a file of an earlier version, inside a transaction. */
  upgrade(database: DatabaseSync, version: number): void;
}

/**
 * Whether the file has this format, after upgrading it if necessary; false if it is empty. Throws
 * `configuration_error` if it has another one.
 */
export function ensureFileFormat(database: DatabaseSync, path: string, format: SqliteFileFormat): boolean {
  const read = () => {
    const pragma = (name: string) =>
      Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
    // In one snapshot: another process may be creating the file.
    return inSnapshot(database, () => ({
      applicationId: pragma('application_id'),
      version: pragma('user_version'),
      pages: pragma('page_count'),
    }));
  };
  const { applicationId, version, pages } = read();
  if (applicationId === 0 && pages <= 1) return false;
  if (applicationId !== format.applicationId) {
    throw new AppError('configuration_error', `${path} is not ${format.contents}.`, {
      hint: 'Move the file away, or use another CITELOOP_HOME.',
    });
  }
  if (version === format.version) return true;
  if (version >= 1 && version < format.version) {
    inTransaction(database, () => {
      // Another process may have upgraded it while this one waited for the lock.
      const current = read().version;
      if (current === format.version) return;
      format.upgrade(database, current);
      database.exec(`PRAGMA user_version = ${format.version}`);
    });
    return true;
  }
  const isNewer = version > format.version;
  throw new AppError(
    'configuration_error',
    `${path} was written by ${isNewer ? 'a newer' : 'an older'} version of citeloop ` +
      `(format ${version}; this one reads ${format.version}).`,
    { hint: isNewer ? 'Update citeloop, or use another CITELOOP_HOME.' : format.olderHint },
  );
}

/** The bytes of a typed array, for storing. */
export function toBytes(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** A typed array over the bytes of a BLOB, which are copied if they are not aligned. */
export function toTypedArray<T>(
  type: { new (buffer: ArrayBuffer, offset: number, length: number): T; BYTES_PER_ELEMENT: number },
  blob: unknown,
): T {
  const bytes = blob instanceof Uint8Array ? blob : new Uint8Array();
  const aligned = bytes.byteOffset % type.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
  return new type(
    aligned.buffer as ArrayBuffer,
    aligned.byteOffset,
    Math.floor(aligned.byteLength / type.BYTES_PER_ELEMENT),
  );
}

/** SQLite's own integrity check. */
export function findDamagedPages(database: DatabaseSync): string[] {
  return database
    .prepare('PRAGMA integrity_check(5)')
    .all()
    .map((row) => String(row.integrity_check))
    .filter((line) => line !== 'ok')
    .map((line) => `${line}.`);
}
