import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { advice, command } from '../../faults/advice.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { fileFormat, openDatabase, snapshot, transaction } from './database.ts';
import { isBusy, isDamaged, storeFault } from './store-fault.ts';

/** Marks a file as one that keeps sessions: "CitS" in ASCII. */
const APPLICATION_ID = 0x43697453;
const SCHEMA_VERSION = 2;

/**
 * A turn only adds rows; of the past, nothing but the session's own row changes. Messages, turns and closed
 * segments are JSON, which keeps every character as it was. `touched` orders sessions by their last change,
 * whatever the clock did. The `all_` counters hold for every segment, the others for the current one.
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
  CREATE TABLE feedback (
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, number),
    FOREIGN KEY (session, number) REFERENCES turn (session, number) ON DELETE CASCADE
  ) STRICT;
`;

/** What leads from each version to the next, from 1 on: an older file is brought up to date as it is opened. */
const MIGRATIONS = ['ALTER TABLE session ADD COLUMN is_interactive INTEGER NOT NULL DEFAULT 0'];

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
    migrate(database);
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

/** Runs inside the caller's transaction, so that the tables are there all or none. */
function createSchema(database: DatabaseSync): void {
  database.exec(
    `${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION};`,
  );
}

/** Another process may do so at the same moment. */
function migrate(database: DatabaseSync): void {
  const missing = () => {
    const { applicationId, version } = fileFormat(database);
    return applicationId === APPLICATION_ID && version >= 1 ? MIGRATIONS.slice(version - 1) : [];
  };
  if (missing().length === 0) return;
  transaction(database, () => {
    for (const step of missing()) database.exec(step);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
}

/** Whether the file keeps sessions (false: it is empty). Throws if it is something else or of another format. */
function hasSchema(database: DatabaseSync, path: string): boolean {
  const { applicationId, version, pages } = fileFormat(database);
  if (applicationId === APPLICATION_ID && version === SCHEMA_VERSION) return true;
  if (applicationId === APPLICATION_ID) {
    throw new AppError(
      'configuration_error',
      `${path} was written by another version of citeloop (format ${version}; this one reads ${SCHEMA_VERSION}).`,
      { hint: 'Update citeloop, or use another CITELOOP_HOME.' },
    );
  }
  if (applicationId === 0 && pages <= 1) return false;
  throw new AppError('configuration_error', `${path} does not hold sessions of citeloop.`, {
    hint: 'Move that file away, or use another CITELOOP_HOME.',
  });
}

/** A fault of the file as an AppError. What to do about a damaged one differs from a collection. */
export function sessionFault(error: unknown, path: string): unknown {
  if (!isDamaged(error, path)) return storeFault(error, path);
  return new AppError('retrieval_error', `The sessions in ${path} are damaged (${messageOf(error)}).`, {
    hint: 'Restore that file from a backup, or move it away to begin anew.',
    cause: error,
  });
}

/** What is wrong with the sessions of a file, one sentence each; empty if they are sound, or there are none. */
export function findSessionProblems(path: string, timeout: number): string[] {
  try {
    const database = openSessions(path, timeout);
    if (database === null) return [];
    try {
      return snapshot(database, () => problemsIn(database));
    } finally {
      database.close();
    }
  } catch (error) {
    throw sessionFault(error, path);
  }
}

function problemsIn(database: DatabaseSync): string[] {
  const damaged = database
    .prepare('PRAGMA integrity_check(5)')
    .all()
    .map((row) => String(row.integrity_check))
    .filter((line) => line !== 'ok');
  // On pages that are damaged nothing is worth counting.
  if (damaged.length > 0) return damaged.map((line) => `${line}.`);
  return ['message', 'turn', 'closed_segment', 'feedback'].flatMap((table) => {
    const { n } =
      database.prepare(`SELECT count(*) AS n FROM ${table} WHERE NOT json_valid(body)`).get() ?? {};
    return Number(n) > 0 ? [`${n} of the table ${table} cannot be read.`] : [];
  });
}

/** Something of a session that cannot be read back. */
export function damagedSession(sessionId: string, what: string, cause: unknown): AppError {
  return new AppError(
    'retrieval_error',
    `The session ${sessionId} is damaged: ${what} cannot be read (${messageOf(cause)}).`,
    { hint: advice`Restore it from a backup, or remove it${command(`sessions delete ${sessionId}`)}`, cause },
  );
}
