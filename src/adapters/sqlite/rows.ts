import type { DatabaseSync } from 'node:sqlite';
import type { Location } from '../../domain/location.ts';
import { citedAddress, fileOf } from '../../domain/place.ts';
import type { DocumentRecord, DocumentWrite, StoredChunk } from '../../ports/chunk-store.ts';
import { view } from './database.ts';

type Row = Record<string, unknown>;

/** Selects what `toChunk` reads, with a location if the file has that column yet; a condition is to be appended. */
export const SELECT_CHUNKS = `
  SELECT chunk.*, url, uri, root, title, module, chapter
  FROM chunk JOIN document ON document.id = document_id`;

export function toChunk(row: Row): StoredChunk {
  return {
    chunkId: String(row.chunk_id),
    text: String(row.text),
    url: addressOf(row),
    ...fileOf(String(row.uri)),
    title: String(row.title),
    module: textOrNull(row.module),
    chapter: textOrNull(row.chapter),
    headings: JSON.parse(String(row.headings)) as string[],
    ...locationOf(row),
    chunkIndex: Number(row.chunk_index),
    tokenCount: Number(row.token_count),
    contentHash: String(row.content_hash),
  };
}

export function toDocument(row: Row): DocumentRecord {
  return {
    uri: String(row.uri),
    url: addressOf(row),
    root: String(row.root),
    title: String(row.title),
    module: textOrNull(row.module),
    chapter: textOrNull(row.chapter),
    metadata: JSON.parse(String(row.metadata)) as Record<string, string>,
    contentHash: String(row.content_hash),
    fingerprint: String(row.fingerprint),
  };
}

/** Documents with their chunks and exact vectors, in the order of the URIs. Runs inside the caller's snapshot. */
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
      chunkId: String(chunk.chunk_id),
      chunkIndex: Number(chunk.chunk_index),
      text: String(chunk.text),
      start: Number(chunk.text_start),
      headings: JSON.parse(String(chunk.headings)) as string[],
      ...locationOf(chunk),
      tokenCount: Number(chunk.token_count),
      contentHash: String(chunk.content_hash),
      vector: chunk.v === null ? null : view(Float32Array, chunk.v),
    }));
    return [{ document: toDocument(row), chunks }];
  });
}

function addressOf(row: Row): string {
  return citedAddress({ url: String(row.url), uri: String(row.uri), root: String(row.root) });
}

/** As `unit from to`; chunks of earlier versions have none. */
function locationOf(row: Row): { location?: Location } {
  if (typeof row.location !== 'string') return {};
  const [unit, from, to] = row.location.split(' ');
  return { location: { unit: unit as Location['unit'], from: Number(from), to: Number(to) } };
}

function textOrNull(value: unknown): string | null {
  return value === null ? null : String(value);
}
