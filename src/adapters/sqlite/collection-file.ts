import type { DatabaseSync } from 'node:sqlite';
import type { CollectionIdentity } from '../../domain/collection-identity.ts';
import { advice, viaCommand } from '../../faults/advice.ts';
import { rowToChunk, SELECT_CHUNKS } from './chunk-rows.ts';
import { createDatabaseFile, inTransaction } from './database.ts';
import type { SqliteFileFormat } from './file-format.ts';
import { CHECKED_TABLES, checksumSql, createCheckedInsert } from './row-checksums.ts';
import { createTextSegmentWriter } from './text-segments.ts';

export const COLLECTION_FORMAT: SqliteFileFormat = {
  /** "Cite" in ASCII. */
  applicationId: 0x43697465,
  version: 4,
  readableVersion: 3,
  contents: 'a citeloop collection',
  olderHint: advice`Remove it${viaCommand('collections delete')} and ingest again.`,
  upgrades: [replaceFts5, (database) => database.exec(UNEMBEDDED_SCHEMA), addWordsAndChecksums],
};

const TEXT_SCHEMA = `
  CREATE TABLE text_segment (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    first_id INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    size INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    ids BLOB NOT NULL,
    lengths BLOB NOT NULL,
    crc INTEGER NOT NULL
  );
  CREATE TABLE posting (
    segment INTEGER NOT NULL,
    term TEXT NOT NULL,
    data BLOB NOT NULL,
    crc INTEGER NOT NULL,
    PRIMARY KEY (segment, term)
  ) WITHOUT ROWID;
`;
const UNEMBEDDED_SCHEMA = 'CREATE TABLE unembedded (id INTEGER PRIMARY KEY);';
const WORDS_SCHEMA =
  'CREATE TABLE word_vectors (id INTEGER PRIMARY KEY, text BLOB NOT NULL, path BLOB NOT NULL, crc INTEGER NOT NULL);';

/**
 * `vector` holds the exact vectors; `unembedded` lists the chunks that have none yet. `segment` packs up to 2048
 * quantized vectors in one row, with chunk ids and scales in `segment_meta`; a scale of NaN marks a removed vector.
 * `word_vectors` holds those of all words of a chunk. `text_segment` holds chunks with their lengths in terms, `posting`
 * the chunks of a segment that have a term. `crc` is the checksum of a row.
 */
const SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;
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
    fingerprint TEXT NOT NULL,
    crc INTEGER NOT NULL
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
    text TEXT NOT NULL,
    crc INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX chunk_by_document ON chunk (document_id, chunk_index);
  CREATE INDEX chunk_by_content ON chunk (content_hash);
  CREATE TABLE vector (id INTEGER PRIMARY KEY, v BLOB NOT NULL, crc INTEGER NOT NULL);
  CREATE TABLE segment (id INTEGER PRIMARY KEY AUTOINCREMENT, q BLOB NOT NULL, crc INTEGER NOT NULL);
  CREATE TABLE segment_meta (
    id INTEGER PRIMARY KEY,
    first_id INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    size INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    ids BLOB NOT NULL,
    scales BLOB NOT NULL,
    crc INTEGER NOT NULL
  );
  ${TEXT_SCHEMA}
  ${UNEMBEDDED_SCHEMA}
  ${WORDS_SCHEMA}
`;

/** Runs inside the caller's transaction. */
export function createCollectionSchema(database: DatabaseSync): void {
  const { applicationId, version } = COLLECTION_FORMAT;
  database.exec(`${SCHEMA} PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version};`);
}

/** Version 0.2 indexed words with FTS5. */
function replaceFts5(database: DatabaseSync): void {
  addColumn(database, 'chunk', 'location TEXT');
  database.exec(`${TEXT_SCHEMA} DROP TABLE vocabulary; DROP TABLE terms; DROP TABLE common_term;`);
  const writer = createTextSegmentWriter(database);
  for (const row of database.prepare(`${SELECT_CHUNKS} ORDER BY chunk.id`).iterate()) {
    const { title, headings, text } = rowToChunk(row);
    writer.add(Number(row.id), title, headings, text);
  }
  writer.flush();
}

function addWordsAndChecksums(database: DatabaseSync): void {
  database.exec(WORDS_SCHEMA);
  for (const table of CHECKED_TABLES) {
    addColumn(database, table, 'crc INTEGER');
    database.exec(`UPDATE ${table} SET crc = ${checksumSql(table)}`);
  }
}

/** Unless the table has it. */
function addColumn(database: DatabaseSync, table: string, definition: string): void {
  const find = database.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?');
  if (find.get(table, definition.split(' ')[0] ?? '') !== undefined) return;
  database.exec(`ALTER TABLE ${table} ADD COLUMN ${definition}`);
}

/** Creates an empty collection, unless another process does so at the same time. */
export function createCollectionFile(path: string, identity: CollectionIdentity): void {
  createDatabaseFile(path, 0o666, (database) => {
    database.exec('PRAGMA page_size = 8192');
    inTransaction(database, () => {
      createCollectionSchema(database);
      const now = new Date().toISOString();
      writeCollectionMetadata(database, { ...identity, createdAt: now, updatedAt: now });
    });
  });
}

interface CollectionMetadata extends CollectionIdentity {
  createdAt: string;
  updatedAt: string;
  description: string | null;
}

export function readCollectionMetadata(database: DatabaseSync): CollectionMetadata {
  const rows = database.prepare('SELECT key, value FROM meta').all();
  const values = new Map(rows.map((row) => [String(row.key), String(row.value)]));
  return {
    embedder: values.get('embedder') ?? '',
    dimensions: Number(values.get('dimensions')),
    createdAt: values.get('createdAt') ?? '',
    updatedAt: values.get('updatedAt') ?? '',
    description: values.get('description') ?? null,
  };
}

export function writeCollectionMetadata(database: DatabaseSync, metadata: Partial<CollectionMetadata>): void {
  const remove = database.prepare('DELETE FROM meta WHERE key = ?');
  const insert = createCheckedInsert(database, 'meta');
  for (const [key, value] of Object.entries(metadata)) {
    remove.run(key);
    if (value !== null) insert({ key, value: String(value) });
  }
}
