import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { crc32 } from 'node:zlib';

/** The columns that the column `crc` of each table covers. */
const CHECKED_COLUMNS = {
  meta: ['key', 'value'],
  document: ['uri', 'url', 'root', 'title', 'module', 'chapter', 'metadata', 'content_hash', 'fingerprint'],
  chunk: [
    'document_id',
    'chunk_index',
    'chunk_id',
    'headings',
    'location',
    'token_count',
    'content_hash',
    'text_start',
    'text',
  ],
  vector: ['v'],
  word_vectors: ['text', 'path'],
  segment: ['q'],
  segment_meta: ['first_id', 'last_id', 'size', 'dead', 'ids', 'scales'],
  text_segment: ['first_id', 'last_id', 'size', 'dead', 'ids', 'lengths'],
  posting: ['term', 'data'],
};
export type CheckedTable = keyof typeof CHECKED_COLUMNS;
export const CHECKED_TABLES = Object.keys(CHECKED_COLUMNS) as CheckedTable[];
/** The tables whose rows an ingest of the document replaces; the others concern the whole collection. */
export const DOCUMENT_TABLES: readonly CheckedTable[] = ['document', 'chunk', 'vector', 'word_vectors'];

/** Defines the SQL function `row_crc`. */
export function defineRowChecksum(database: DatabaseSync): void {
  database.function('row_crc', { varargs: true, deterministic: true }, (...values) => checksumOf(values));
}

function checksumOf(values: readonly SQLInputValue[]): number {
  return values.reduce<number>(
    (crc, value) => crc32(value instanceof Uint8Array ? value : `${value}\0`, crc),
    0,
  );
}

/** Returns a function that inserts a row with its checksum; `keys` are the columns that the checksum does not cover. */
export function createCheckedInsert(
  database: DatabaseSync,
  table: CheckedTable,
  keys: readonly string[] = [],
): (row: Readonly<Record<string, SQLInputValue>>) => number {
  const columns = [...keys, ...CHECKED_COLUMNS[table]];
  const insert = database.prepare(
    `INSERT INTO ${table} (${columns.join()}, crc) VALUES (${columns.map(() => '?').join()}, ?)`,
  );
  return (row) => {
    const values = columns.map((column) => row[column] ?? null);
    return Number(insert.run(...values, checksumOf(values.slice(keys.length))).lastInsertRowid);
  };
}

/** The SQL of a row's checksum. `values` are those to write; otherwise the stored ones. */
export function checksumSql(table: CheckedTable, values: Record<string, string> = {}): string {
  return `row_crc(${CHECKED_COLUMNS[table].map((column) => values[column] ?? `${table}.${column}`).join()})`;
}

/** An SQL condition: the row was changed without its checksum. */
export function isChangedSql(table: CheckedTable): string {
  return `${table}.crc <> ${checksumSql(table)}`;
}
