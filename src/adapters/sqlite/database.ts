import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { isWriteRefused } from './store-fault.ts';

/** Opens a database file, made empty if there is none; to read only, where nothing may be written. */
export function openDatabase(path: string, timeout: number): DatabaseSync {
  try {
    return opened(path, { timeout });
  } catch (error) {
    // Even a reader of a WAL file writes beside it. Where that is refused, the file alone will do if it is complete.
    if (!isWriteRefused(error) || !isComplete(path)) throw error;
    return opened(`${pathToFileURL(path).href}?immutable=1`, { timeout, readOnly: true });
  }
}

function opened(location: string, options: { timeout: number; readOnly?: boolean }): DatabaseSync {
  const database = new DatabaseSync(location, options);
  try {
    // Nothing is read from the file until the first statement that needs it.
    database.exec('PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA schema_version;');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Whether the file is there and no commit waits beside it to be carried over. */
function isComplete(path: string): boolean {
  const size = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return size(path) > 0 && size(`${path}-wal`) === 0;
}

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

/** What a file says it is, and whether there is anything in it. Read together: another process may be making it at this moment. */
export function fileFormat(database: DatabaseSync): {
  applicationId: number;
  version: number;
  pages: number;
} {
  const pragma = (name: string) =>
    Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
  return snapshot(database, () => ({
    applicationId: pragma('application_id'),
    version: pragma('user_version'),
    pages: pragma('page_count'),
  }));
}

/** The bytes of a typed array, to be stored. */
export function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** A typed array over the bytes of a BLOB. SQLite's bytes may start anywhere, so they are copied to an aligned place if need be. */
export function view<T>(
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
