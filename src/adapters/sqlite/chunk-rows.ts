import type { DatabaseSync } from 'node:sqlite';
import type { SourceLocation } from '../../domain/location.ts';
import { documentAddress, fileUriField } from '../../domain/source-address.ts';
import type { DocumentRecord, DocumentWrite, StoredChunk } from '../../ports/chunk-store.ts';
import { toTypedArray } from './database.ts';

type Row = Record<string, unknown>;

/** Selects the columns that `rowToChunk` reads; a condition can be appended. */
export const SELECT_CHUNKS = `
  SELECT chunk.*, url, uri, root, title, module, chapter
  FROM chunk JOIN document ON document.id = document_id`;

export function rowToChunk(row: Row): StoredChunk {
  return { ...ownFields(row), ...descriptionOf(row), ...fileUriField(String(row.uri)) };
}

export function rowToDocument(row: Row): DocumentRecord {
  return {
    ...descriptionOf(row),
    uri: String(row.uri),
    root: String(row.root),
    metadata: JSON.parse(String(row.metadata)) as Record<string, string>,
    contentHash: String(row.content_hash),
    fingerprint: String(row.fingerprint),
  };
}

/** Documents with their chunks and exact vectors, in the order of the URIs. Must run inside a snapshot. */
export function readDocuments(database: DatabaseSync, uris: readonly string[]): DocumentWrite[] {
  const findDocument = database.prepare('SELECT * FROM document WHERE uri = ?');
  const findChunks = database.prepare(
    `SELECT chunk.*, v FROM chunk LEFT JOIN vector ON vector.id = chunk.id
     WHERE document_id = ? ORDER BY chunk_index`,
  );
  return uris.flatMap((uri): DocumentWrite[] => {
    const row = findDocument.get(uri);
    if (row === undefined) return [];
    const chunks = findChunks.all(Number(row.id)).map((chunk) => ({
      ...ownFields(chunk),
      start: Number(chunk.text_start),
      vector: chunk.v === null ? null : toTypedArray(Float32Array, chunk.v),
    }));
    return [{ document: rowToDocument(row), chunks }];
  });
}

/** The columns of a chunk that are not those of its document. */
function ownFields(row: Row) {
  return {
    chunkId: String(row.chunk_id),
    chunkIndex: Number(row.chunk_index),
    text: String(row.text),
    headings: JSON.parse(String(row.headings)) as string[],
    ...readLocation(row),
    tokenCount: Number(row.token_count),
    contentHash: String(row.content_hash),
  };
}

function descriptionOf(row: Row) {
  return {
    url: documentAddress({ url: String(row.url), uri: String(row.uri), root: String(row.root) }),
    title: String(row.title),
    module: textOrNull(row.module),
    chapter: textOrNull(row.chapter),
  };
}

/** Stored as `unit from to`; chunks of earlier versions have none. */
function readLocation(row: Row): { location?: SourceLocation } {
  if (typeof row.location !== 'string') return {};
  const [unit, from, to] = row.location.split(' ');
  return { location: { unit: unit as SourceLocation['unit'], from: Number(from), to: Number(to) } };
}

function textOrNull(value: unknown): string | null {
  return value === null ? null : String(value);
}
