import { randomUUID } from 'node:crypto';
import { closeSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { makeDirectory } from '../../files/make-directory.ts';
import { defineRowChecksum } from './row-checksums.ts';
import { isWriteRefusedError } from './sqlite-error.ts';

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

/** Opens an existing file, read-only where writing is not permitted. A commit survives a power failure. */
export function openDatabase(path: string, timeout: number): DatabaseSync {
  const { href } = pathToFileURL(path);
  try {
    return connect(`${href}?mode=rw`, { timeout });
  } catch (error) {
    // Even a reader of a WAL file writes beside it. Without that, the file alone can be read if it is complete.
    const isComplete = fileBytes(path) > 0 && fileBytes(`${path}-wal`) === 0;
    if (!isWriteRefusedError(error) || !isComplete) throw error;
    return connect(`${href}?immutable=1`, { timeout, readOnly: true });
  }
}

function connect(location: string, options: { timeout: number; readOnly?: boolean }): DatabaseSync {
  const database = new DatabaseSync(location, options);
  try {
    defineRowChecksum(database);
    // The last pragma reads the file, so that errors are thrown here.
    database.exec(
      'PRAGMA cache_size = -16000; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA foreign_keys = ON; PRAGMA schema_version;',
    );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** 0 if it does not exist. */
export function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Takes the write lock at once: upgrading a read lock later could fail without waiting. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  return within(database, 'BEGIN IMMEDIATE', work);
}

/** Runs reads in one transaction, so that they see a consistent snapshot. */
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

/**
 * Creates a file with what `fill` writes, readable and writable as `mode` permits. Other processes see a complete file
 * or none; if one of them has created it meanwhile, that file stays.
 */
export function createDatabaseFile(path: string, mode: number, fill: (database: DatabaseSync) => void): void {
  makeDirectory(dirname(path));
  const temporary = `${path}.${randomUUID()}.partial`;
  try {
    closeSync(openSync(temporary, 'wx', mode));
    withDatabase(temporary, 0, (database) => {
      fill(database);
      database.exec('PRAGMA journal_mode = WAL');
      database.close();
    });
    linkOrRename(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** A link never replaces a file, but not every file system has links. */
function linkOrRename(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') renameSync(from, to);
  }
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
