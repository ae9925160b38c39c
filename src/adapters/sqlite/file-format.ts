import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Advice } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { inSnapshot, inTransaction, withDatabase } from './database.ts';
import { emptyFileError } from './sqlite-error.ts';

/** Identifies what a file contains. */
export interface SqliteFileFormat {
  applicationId: number;
  /** The version that this program writes. */
  version: number;
  /** Such as "a citeloop collection". */
  contents: string;
  /** What to do about an older version that cannot be upgraded. */
  olderHint: string | Advice;
  /** From the only earlier version that can be upgraded. Runs inside a transaction. */
  upgrade: { from: number; run: (database: DatabaseSync) => void };
}

export interface FileUpgrade {
  path: string;
  /** A copy of the file before the upgrade. */
  backup: string;
}

export interface SqliteFileOptions {
  /** Limits waiting for other processes. */
  busyTimeoutMs: number;
  onUpgrade?: ((upgrade: FileUpgrade) => void) | undefined;
}

/**
 * Checks that the file has this format, and upgrades the version before. Throws `configuration_error` for another
 * format, and an error of a damaged file if it is empty.
 */
export function ensureFileFormat(
  database: DatabaseSync,
  path: string,
  format: SqliteFileFormat,
  options: SqliteFileOptions,
): void {
  const { applicationId, version, pages } = readHeader(database);
  if (pages === 0) throw emptyFileError();
  if (applicationId !== format.applicationId) {
    throw new AppError('configuration_error', `${path} is not ${format.contents}.`, {
      hint: 'Move the file away, or use another CITELOOP_HOME.',
    });
  }
  if (version === format.upgrade.from) upgradeFile(database, path, format, options);
  else if (version !== format.version) {
    const isNewer = version > format.version;
    throw new AppError(
      'configuration_error',
      `${path} was written by ${isNewer ? 'a newer' : 'an older'} version of citeloop ` +
        `(format ${version}; this one reads ${format.version}).`,
      { hint: isNewer ? 'Update citeloop, or use another CITELOOP_HOME.' : format.olderHint },
    );
  }
}

/** One transaction after a backup: whenever the process is killed, the file is the old one or the new one. */
function upgradeFile(
  database: DatabaseSync,
  path: string,
  format: SqliteFileFormat,
  { busyTimeoutMs, onUpgrade }: SqliteFileOptions,
): void {
  const backup = inTransaction(database, () => {
    const { version } = readHeader(database);
    // Another process has upgraded it while this one waited for the lock.
    if (version === format.version) return null;
    const backup = backupPath(path, format);
    backUp(path, backup, busyTimeoutMs);
    format.upgrade.run(database);
    database.exec(`PRAGMA user_version = ${format.version}`);
    return backup;
  });
  if (backup !== null) onUpgrade?.({ path, backup });
}

/** Copies the committed state. The caller has the write lock, so nobody changes it meanwhile. */
function backUp(path: string, backup: string, timeout: number): void {
  const partial = `${backup}.partial`;
  try {
    // Truncates what a killed process left. The copy gets the permissions of the file.
    closeSync(openSync(partial, 'w', statSync(path).mode));
    withDatabase(path, timeout, (reader) => {
      reader.prepare('VACUUM INTO ?').run(partial);
      reader.close();
    });
    const file = openSync(partial, 'r+');
    fsyncSync(file);
    closeSync(file);
    renameSync(partial, backup);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

function backupPath(path: string, { upgrade }: SqliteFileFormat): string {
  return `${path}.v${upgrade.from}.bak`;
}

export function removeBackup(path: string, format: SqliteFileFormat): void {
  rmSync(backupPath(path, format), { force: true });
}

/** In one snapshot: another process may be upgrading the file. */
function readHeader(database: DatabaseSync) {
  const read = (name: string) =>
    Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
  return inSnapshot(database, () => ({
    applicationId: read('application_id'),
    version: read('user_version'),
    pages: read('page_count'),
  }));
}
