import type { DatabaseSync } from 'node:sqlite';
import type { CollectionIdentity } from '../../domain/collection-identity.ts';
import { advice, command } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { fileFormat, transaction } from './database.ts';
import { isBusy } from './store-fault.ts';
import { createTermWriter } from './term-segments.ts';

/** Marks a file as one of ours: "Cite" in ASCII. */
const APPLICATION_ID = 0x43697465;
export const SCHEMA_VERSION = 3;
/** Had its full text in FTS5, and at first no places of chunks. */
const VERSION_WITH_FTS5 = 1;
/** Had a vector for every chunk, always. */
const VERSION_ALL_EMBEDDED = 2;
/** How often a lock is asked for that SQLite does not wait for by itself. */
const RETRY_MS = 10;

/**
 * A segment packs up to 2048 quantized vectors in one row (`q`), with their chunk ids and scales in
 * `segment_meta`; a scale of NaN marks a removed vector. `vector` has the exact ones, and
 * `unembedded` are the chunks that have none yet.
 * The full text is packed alike: `text_segment` has the chunks with their lengths in terms, `posting` for each term
 * the places in the segment of the chunks that have it, and how often.
 */
const FULL_TEXT_SCHEMA = `
  CREATE TABLE text_segment (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    first_id INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    size INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    ids BLOB NOT NULL,
    lengths BLOB NOT NULL
  );
  CREATE TABLE posting (
    segment INTEGER NOT NULL,
    term TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (segment, term)
  ) WITHOUT ROWID;`;
const UNEMBEDDED_SCHEMA = 'CREATE TABLE unembedded (id INTEGER PRIMARY KEY);';
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
  ${FULL_TEXT_SCHEMA}
  ${UNEMBEDDED_SCHEMA}
`;

/** Runs inside the caller's transaction, so that a collection is there whole or not at all. */
export function createSchema(database: DatabaseSync): void {
  database.exec(
    `${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION};`,
  );
}

/** Makes a file of an earlier version one of this version. */
function upgrade(database: DatabaseSync): void {
  transaction(database, () => {
    // Another process may have done it while this one waited.
    const { version } = fileFormat(database);
    if (version === SCHEMA_VERSION) return;
    if (version === VERSION_WITH_FTS5) packFullText(database);
    database.exec(`${UNEMBEDDED_SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION};`);
  });
}

/** The words are indexed anew, the vectors stay. */
function packFullText(database: DatabaseSync): void {
  const column = database.prepare("SELECT 1 FROM pragma_table_info('chunk') WHERE name = 'location'").get();
  if (column === undefined) database.exec('ALTER TABLE chunk ADD COLUMN location TEXT');
  database.exec(FULL_TEXT_SCHEMA);
  const terms = createTermWriter(database);
  const rows = database.prepare(
    'SELECT chunk.id, title, headings, text FROM chunk JOIN document ON document.id = document_id ORDER BY chunk.id',
  );
  for (const { id, title, headings, text } of rows.iterate()) {
    terms.add(Number(id), String(title), JSON.parse(String(headings)) as string[], String(text));
  }
  terms.flush();
  database.exec('DROP TABLE vocabulary; DROP TABLE terms; DROP TABLE common_term;');
}

/** Whether the file holds a collection (false: it is empty). Throws if it is something else or newer than this program. */
export function hasSchema(database: DatabaseSync, path: string): boolean {
  const { applicationId, version, pages } = fileFormat(database);
  if (applicationId === APPLICATION_ID && version === SCHEMA_VERSION) return true;
  if (applicationId === APPLICATION_ID && [VERSION_WITH_FTS5, VERSION_ALL_EMBEDDED].includes(version)) {
    upgrade(database);
    return true;
  }
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
}

export function readMeta(database: DatabaseSync): CollectionMeta {
  const rows = database.prepare('SELECT key, value FROM meta').all();
  const values = new Map(rows.map((row) => [String(row.key), String(row.value)]));
  return {
    embedder: values.get('embedder') ?? '',
    dimensions: Number(values.get('dimensions')),
    createdAt: values.get('createdAt') ?? '',
    updatedAt: values.get('updatedAt') ?? '',
  };
}

export function writeMeta(database: DatabaseSync, meta: Partial<CollectionMeta>): void {
  const write = database.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)');
  for (const [key, value] of Object.entries(meta)) write.run(key, String(value));
}
