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
  /** The oldest version that can be read as it is. */
  readableVersion: number;
  /** Such as "a citeloop collection". */
  contents: string;
  /** What to do about an older version that cannot be upgraded. */
  olderHint: string | Advice;
  /** The step from version 1 to 2, from 2 to 3 and so on. All run inside one transaction. */
  upgrades: readonly ((database: DatabaseSync) => void)[];
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
 * Checks that the file has this format, and upgrades it if it cannot be read or written as it is. Throws
 * `configuration_error` for another format, and an error of a damaged file if it is empty.
 */
export function ensureFileFormat(
  database: DatabaseSync,
  path: string,
  format: SqliteFileFormat,
  access: 'read' | 'write',
  options: SqliteFileOptions,
): void {
  const { applicationId, version, pages } = readHeader(database);
  if (pages === 0) throw emptyFileError();
  if (applicationId !== format.applicationId) {
    throw new AppError('configuration_error', `${path} is not ${format.contents}.`, {
      hint: 'Move the file away, or use another CITELOOP_HOME.',
    });
  }
  if (version === format.version) return;
  if (version < 1 || version > format.version) {
    const isNewer = version > format.version;
    throw new AppError(
      'configuration_error',
      `${path} was written by ${isNewer ? 'a newer' : 'an older'} version of citeloop ` +
        `(format ${version}; this one reads ${format.version}).`,
      { hint: isNewer ? 'Update citeloop, or use another CITELOOP_HOME.' : format.olderHint },
    );
  }
  if (access === 'write' || version < format.readableVersion) upgradeFile(database, path, format, options);
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
    const backup = backupPath(path, version);
    backUp(path, backup, busyTimeoutMs);
    for (const upgrade of format.upgrades.slice(version - 1)) upgrade(database);
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

function backupPath(path: string, version: number): string {
  return `${path}.v${version}.bak`;
}

export function removeBackups(path: string, { version }: SqliteFileFormat): void {
  for (let older = 1; older < version; older += 1) rmSync(backupPath(path, older), { force: true });
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
