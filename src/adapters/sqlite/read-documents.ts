import type { DatabaseSync } from 'node:sqlite';
import type { DocumentWrite } from '../../ports/chunk-store.ts';
import { view } from './blob.ts';
import { toDocument } from './rows.ts';

/** Documents with their chunks and exact vectors, in the order of the URIs. Runs inside the caller's snapshot. */
export function readDocuments(database: DatabaseSync, uris: readonly string[]): DocumentWrite[] {
  const findDocument = database.prepare('SELECT * FROM document WHERE uri = ?');
  const findChunks = database.prepare(
    `SELECT chunk.*, v FROM chunk JOIN vector ON vector.id = chunk.id
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
      tokenCount: Number(chunk.token_count),
      contentHash: String(chunk.content_hash),
      vector: view(Float32Array, chunk.v),
    }));
    return [{ document: toDocument(row), chunks }];
  });
}
