import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/app-error.ts';

/** Marks a file as one that keeps sessions: "CitS" in ASCII. */
const APPLICATION_ID = 0x43697453;
const SCHEMA_VERSION = 1;

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
    all_tokens INTEGER NOT NULL
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

/** Runs inside the caller's transaction, so that the tables are there all or none. */
export function createSchema(database: DatabaseSync): void {
  database.exec(
    `${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION};`,
  );
}

/** Whether the file keeps sessions (false: it is empty). Throws if it is something else or of another format. */
export function hasSchema(database: DatabaseSync, path: string): boolean {
  const applicationId = pragma(database, 'application_id');
  const version = pragma(database, 'user_version');
  if (applicationId === APPLICATION_ID && version === SCHEMA_VERSION) return true;
  if (applicationId === APPLICATION_ID) {
    throw new AppError(
      'configuration_error',
      `${path} was written by another version of citeloop (format ${version}; this one reads ${SCHEMA_VERSION}).`,
      { hint: 'Update citeloop, or use another CITELOOP_HOME.' },
    );
  }
  if (applicationId === 0 && pragma(database, 'page_count') <= 1) return false;
  throw new AppError('configuration_error', `${path} does not hold sessions of citeloop.`, {
    hint: 'Move that file away, or use another CITELOOP_HOME.',
  });
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
}
