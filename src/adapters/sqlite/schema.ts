import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../domain/app-error.ts';
import { snapshot } from './transaction.ts';

/** Marks a file as one of ours: "Cite" in ASCII. */
const APPLICATION_ID = 0x43697465;
export const SCHEMA_VERSION = 1;

/**
 * Full text is contentless: what is indexed are terms, not the text, which `chunk` holds. Its tokenizer
 * only splits them at spaces: `ascii` leaves everything beyond ASCII as it is.
 * A segment packs up to 2048 quantized vectors in one row (`q`), with their chunk ids and scales in
 * `segment_meta`; a scale of NaN marks a removed vector. `vector` has the exact ones.
 */
const SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE document (
    id INTEGER PRIMARY KEY,
    uri TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    root TEXT NOT NULL,
    title TEXT NOT NULL,
    module TEXT,
    chapter TEXT,
    metadata TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL
  );
  CREATE INDEX document_by_module ON document (module);
  CREATE TABLE chunk (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL REFERENCES document (id),
    chunk_index INTEGER NOT NULL,
    chunk_id TEXT NOT NULL UNIQUE,
    headings TEXT NOT NULL,
    token_count INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    text_start INTEGER NOT NULL,
    text TEXT NOT NULL
  );
  CREATE UNIQUE INDEX chunk_by_document ON chunk (document_id, chunk_index);
  CREATE INDEX chunk_by_content ON chunk (content_hash);
  CREATE TABLE vector (id INTEGER PRIMARY KEY, v BLOB NOT NULL);
  CREATE TABLE segment (id INTEGER PRIMARY KEY AUTOINCREMENT, q BLOB NOT NULL);
  CREATE TABLE segment_meta (
    id INTEGER PRIMARY KEY,
    first_id INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    size INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    ids BLOB NOT NULL,
    scales BLOB NOT NULL
  );
  CREATE VIRTUAL TABLE terms USING fts5 (
    heading, body, content='', contentless_delete=1, tokenize='ascii'
  );
  CREATE VIRTUAL TABLE vocabulary USING fts5vocab (terms, row);
  CREATE TABLE common_term (term TEXT PRIMARY KEY) WITHOUT ROWID;
`;

/** Runs inside the caller's transaction, so that a collection is there whole or not at all. */
export function createSchema(database: DatabaseSync): void {
  database.exec(
    `${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION};`,
  );
}

/** Whether the file holds a collection (false: it is empty). Throws if it is something else or newer than this program. */
export function hasSchema(database: DatabaseSync, path: string): boolean {
  // Read together: another process may be making the collection at this moment.
  const { applicationId, version, pages } = snapshot(database, () => ({
    applicationId: pragma(database, 'application_id'),
    version: pragma(database, 'user_version'),
    pages: pragma(database, 'page_count'),
  }));
  if (applicationId === APPLICATION_ID && version === SCHEMA_VERSION) return true;
  if (applicationId === APPLICATION_ID) {
    throw new AppError(
      'configuration_error',
      `${path} was written by ${version > SCHEMA_VERSION ? 'a newer' : 'an older'} citeloop ` +
        `(format ${version}; this one reads ${SCHEMA_VERSION}).`,
      {
        hint:
          version > SCHEMA_VERSION
            ? 'Update citeloop, or use another CITELOOP_HOME.'
            : 'Remove it with `citeloop collections delete` and ingest again.',
      },
    );
  }
  if (applicationId === 0 && pages <= 1) return false;
  throw new AppError('configuration_error', `${path} is not a citeloop collection.`, {
    hint: 'Move that file away, or use another CITELOOP_HOME.',
  });
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
}
