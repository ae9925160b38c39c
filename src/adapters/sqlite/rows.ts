import type { DocumentRecord, StoredChunk } from '../../ports/chunk-store.ts';

type Row = Record<string, unknown>;

/** Selects what `toChunk` reads; a condition is to be appended. */
export const SELECT_CHUNKS = `
  SELECT chunk.id, chunk_id, text, url, title, module, chapter, headings, chunk_index, token_count,
    chunk.content_hash AS content_hash
  FROM chunk JOIN document ON document.id = document_id`;

export function toChunk(row: Row): StoredChunk {
  return {
    chunkId: String(row.chunk_id),
    text: String(row.text),
    url: String(row.url),
    title: String(row.title),
    module: textOrNull(row.module),
    chapter: textOrNull(row.chapter),
    headings: JSON.parse(String(row.headings)) as string[],
    chunkIndex: Number(row.chunk_index),
    tokenCount: Number(row.token_count),
    contentHash: String(row.content_hash),
  };
}

export function toDocument(row: Row): DocumentRecord {
  return {
    uri: String(row.uri),
    url: String(row.url),
    root: String(row.root),
    title: String(row.title),
    module: textOrNull(row.module),
    chapter: textOrNull(row.chapter),
    metadata: JSON.parse(String(row.metadata)) as Record<string, string>,
    contentHash: String(row.content_hash),
    fingerprint: String(row.fingerprint),
  };
}

function textOrNull(value: unknown): string | null {
  return value === null ? null : String(value);
}
