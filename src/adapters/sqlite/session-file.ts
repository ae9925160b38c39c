import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { createDatabaseFile, findDamagedPages, inSnapshot, inTransaction, withDatabase } from './database.ts';
import { ensureFileFormat, type SqliteFileFormat, type SqliteFileOptions } from './file-format.ts';
import { isDamagedFileError, toSqliteError } from './sqlite-error.ts';

export const SESSION_FORMAT: SqliteFileFormat = {
  /** "CitS" in ASCII. */
  applicationId: 0x43697453,
  version: 2,
  readableVersion: 1,
  contents: 'a session file of citeloop',
  olderHint: 'Move the file away, or use another CITELOOP_HOME.',
  upgrades: [
    (database) => database.exec('ALTER TABLE session ADD COLUMN is_interactive INTEGER NOT NULL DEFAULT 0'),
  ],
};

/**
 * A turn only adds rows, except for the session's own row. Messages, turns and closed segments are stored as JSON.
 * `touched` orders sessions by their last change, independent of the clock. The `all_` counters are for all segments,
 * the others for the current one.
 */
const SCHEMA = `
  CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    user TEXT,
    title TEXT,
    status TEXT NOT NULL,
    model TEXT NOT NULL,
    policy TEXT NOT NULL,
    collection TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    touched INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    turn_count INTEGER NOT NULL,
    retrieval_count INTEGER NOT NULL,
    total_tokens_used INTEGER NOT NULL,
    all_turns INTEGER NOT NULL,
    all_retrievals INTEGER NOT NULL,
    all_tokens INTEGER NOT NULL,
    is_interactive INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX session_by_time ON session (touched);
  CREATE INDEX session_by_user ON session (user, touched);
  CREATE TABLE closed_segment (
    session INTEGER NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    segment INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, segment)
  ) STRICT;
  CREATE TABLE message (
    session INTEGER NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    segment INTEGER NOT NULL,
    position INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, segment, position)
  ) STRICT;
  CREATE TABLE turn (
    session INTEGER NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, number)
  ) STRICT;
`;

/** Null if the file does not exist. */
export function openSessionFile(path: string, options: SqliteFileOptions): DatabaseSync | null {
  return existsSync(path) ? open(path, 'read', options) : null;
}

/** Creates the file if necessary. Another process may do so at the same time. */
export function openOrCreateSessionFile(path: string, options: SqliteFileOptions): DatabaseSync {
  // Only the owner may read conversations. SQLite gives the files beside it the same mode.
  if (!existsSync(path)) createDatabaseFile(path, 0o600, createSessionSchema);
  return open(path, 'write', options);
}

export function createSessionSchema(database: DatabaseSync): void {
  const { applicationId, version } = SESSION_FORMAT;
  inTransaction(database, () =>
    database.exec(`${SCHEMA} PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version};`),
  );
}

function open(path: string, access: 'read' | 'write', options: SqliteFileOptions): DatabaseSync {
  return withDatabase(path, options.busyTimeoutMs, (database) => {
    // A deleted conversation must not be recoverable.
    database.exec('PRAGMA secure_delete = ON');
    ensureFileFormat(database, path, SESSION_FORMAT, access, options);
    return database;
  });
}

/** Like `toSqliteError`, with advice for sessions. */
export function toSessionFileError(error: unknown, path: string): unknown {
  if (!isDamagedFileError(error)) return toSqliteError(error, path);
  return new AppError('retrieval_error', `The sessions in ${path} are damaged (${messageOf(error)}).`, {
    hint: 'Restore the file from a backup, or move it away to start with a new one.',
    cause: error,
  });
}

/** What is wrong with the file, one sentence each; empty if it does not exist. */
export function findSessionProblems(path: string, busyTimeoutMs: number): string[] {
  try {
    const database = openSessionFile(path, { busyTimeoutMs });
    if (database === null) return [];
    try {
      return inSnapshot(database, () => {
        const damaged = findDamagedPages(database);
        return damaged.length > 0 ? damaged : findInvalidRecords(database);
      });
    } finally {
      database.close();
    }
  } catch (error) {
    throw toSessionFileError(error, path);
  }
}

function findInvalidRecords(database: DatabaseSync): string[] {
  return ['message', 'turn', 'closed_segment'].flatMap((table) => {
    const row = database.prepare(`SELECT count(*) AS n FROM ${table} WHERE NOT json_valid(body)`).get();
    return Number(row?.n) > 0 ? [`${row?.n} rows of the table ${table} cannot be read.`] : [];
  });
}
