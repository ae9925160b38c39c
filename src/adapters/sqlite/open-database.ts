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
