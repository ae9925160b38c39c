import type { DatabaseSync } from 'node:sqlite';
import type { CollectionIdentity } from '../../domain/collection-identity.ts';
import { advice, command } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { fileFormat, transaction } from './database.ts';
import { isBusy } from './store-fault.ts';

/** Marks a file as one of ours: "Cite" in ASCII. */
const APPLICATION_ID = 0x43697465;
export const SCHEMA_VERSION = 1;
/** How often a lock is asked for that SQLite does not wait for by itself. */
const RETRY_MS = 10;

/**
 * Full text is contentless: what is indexed are terms, not the text, which `chunk` holds. Its tokenizer
 * only splits them at spaces: `ascii` leaves everything beyond ASCII as it is.
 * A segment packs up to 2048 quantized vectors in one row (`q`), with their chunk ids and scales in
 * `segment_meta`; a scale of NaN marks a removed vector. `vector` has the exact ones. `unembedded` are the chunks that
 * have none yet.
 */
const UNEMBEDDED = 'CREATE TABLE IF NOT EXISTS unembedded (id INTEGER PRIMARY KEY)';
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
    location TEXT,
    token_count INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    text_start INTEGER NOT NULL,
    text TEXT NOT NULL
  );
  CREATE UNIQUE INDEX chunk_by_document ON chunk (document_id, chunk_index);
  CREATE INDEX chunk_by_content ON chunk (content_hash);
  CREATE TABLE vector (id INTEGER PRIMARY KEY, v BLOB NOT NULL);
  ${UNEMBEDDED};
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

/** Files of earlier versions get what they lack with their first change; until then nothing asks for it. */
export function upgradeSchema(database: DatabaseSync): void {
  const column = database.prepare("SELECT 1 FROM pragma_table_info('chunk') WHERE name = 'location'").get();
  if (column === undefined) database.exec('ALTER TABLE chunk ADD COLUMN location TEXT');
  database.exec(UNEMBEDDED);
}

/** Files of earlier versions do not, as long as nothing is written to them. */
export function hasUnembeddedTable(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'unembedded'").get() !== undefined;
}

/** Whether the file holds a collection (false: it is empty). Throws if it is something else or newer than this program. */
export function hasSchema(database: DatabaseSync, path: string): boolean {
  const { applicationId, version, pages } = fileFormat(database);
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
            : advice`Remove it${command('collections delete')} and ingest again.`,
      },
    );
  }
  if (applicationId === 0 && pages <= 1) return false;
  throw new AppError('configuration_error', `${path} is not a citeloop collection.`, {
    hint: 'Move that file away, or use another CITELOOP_HOME.',
  });
}

/** Makes a collection of an empty file. Another process may do so at the same moment: one of them wins. */
export function createDatabase(
  database: DatabaseSync,
  path: string,
  identity: CollectionIdentity,
  timeout: number,
): void {
  patiently(timeout, () => database.exec('PRAGMA page_size = 8192; PRAGMA journal_mode = WAL;'));
  transaction(database, () => {
    if (hasSchema(database, path)) return;
    createSchema(database);
    const now = new Date().toISOString();
    writeMeta(database, { ...identity, createdAt: now, updatedAt: now });
  });
}

/** SQLite does not wait for its lock by itself when the journal mode changes. */
function patiently(timeout: number, work: () => void): void {
  const deadline = performance.now() + timeout;
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

/** What a collection says of itself. */
interface CollectionMeta extends CollectionIdentity {
  createdAt: string;
  updatedAt: string;
  /** How many chunks there were when the common terms were last found out. */
  commonTermsOf: number;
  /** How many of the chunks there have ever been the full-text index does not count: those gone when it was made. */
  uncountedTexts: number;
}

export function readMeta(database: DatabaseSync): CollectionMeta {
  const rows = database.prepare('SELECT key, value FROM meta').all();
  const values = new Map(rows.map((row) => [String(row.key), String(row.value)]));
  return {
    embedder: values.get('embedder') ?? '',
    dimensions: Number(values.get('dimensions')),
    createdAt: values.get('createdAt') ?? '',
    updatedAt: values.get('updatedAt') ?? '',
    commonTermsOf: Number(values.get('commonTermsOf') ?? 0),
    uncountedTexts: Number(values.get('uncountedTexts') ?? 0),
  };
}

export function writeMeta(database: DatabaseSync, meta: Partial<CollectionMeta>): void {
  const write = database.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)');
  for (const [key, value] of Object.entries(meta)) write.run(key, String(value));
}
