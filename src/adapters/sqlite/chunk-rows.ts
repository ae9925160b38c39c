import type { DatabaseSync } from 'node:sqlite';
import { matchesContentHash } from '../../domain/document.ts';
import type { SourceLocation } from '../../domain/location.ts';
import { documentAddress, fileUriField } from '../../domain/source-address.ts';
import { advice, viaCommand } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import type { ChunkWords, DocumentRecord, DocumentWrite, StoredChunk } from '../../ports/chunk-store.ts';
import { WORD_VALUE_STEP } from '../../ports/embedder.ts';
import { toTypedArray } from './database.ts';

type Row = Record<string, unknown>;

/** Selects the columns that `rowToChunk` reads; a condition can be appended. */
export const SELECT_CHUNKS = `
  SELECT chunk.*, url, uri, root, title, module, chapter
  FROM chunk JOIN document ON document.id = document_id`;

export function rowToChunk(row: Row): StoredChunk {
  return { ...ownFields(row), ...descriptionOf(row), ...fileUriField(String(row.uri)) };
}

/** Like `rowToChunk`, but throws `retrieval_error` if the text is not the one that was ingested. */
export function rowToVerifiedChunk(row: Row, collection: string): StoredChunk {
  const chunk = rowToChunk(row);
  assertOriginalContent(chunk, String(row.uri), collection);
  return chunk;
}

function assertOriginalContent(
  chunk: Parameters<typeof matchesContentHash>[0] & { chunkIndex: number },
  uri: string,
  collection: string,
): void {
  if (matchesContentHash(chunk)) return;
  throw new AppError(
    'retrieval_error',
    `Passage ${chunk.chunkIndex + 1} of "${chunk.title}" has changed in the collection file since it was ingested.`,
    { hint: advice`Ingest the document again${viaCommand(`ingest ${uri}`, { collection })}` },
  );
}

export function rowToDocument(row: Row): DocumentRecord {
  return {
    ...descriptionOf(row),
    uri: String(row.uri),
    root: String(row.root),
    metadata: parseJson<Record<string, string>>(row.metadata, {}),
    contentHash: String(row.content_hash),
    fingerprint: String(row.fingerprint),
  };
}

/** Documents with their chunks and exact vectors, in the order of the URIs. Must run inside a snapshot. */
export function readDocuments(
  database: DatabaseSync,
  uris: readonly string[],
  collection: string,
): DocumentWrite[] {
  const findDocument = database.prepare('SELECT * FROM document WHERE uri = ?');
  const findChunks = database.prepare(
    `SELECT chunk.*, vector.v AS vector, word_vectors.text AS words, path FROM chunk
     LEFT JOIN vector ON vector.id = chunk.id LEFT JOIN ${wordVectorsTable(database)} ON word_vectors.id = chunk.id
     WHERE document_id = ? ORDER BY chunk_index`,
  );
  return uris.flatMap((uri): DocumentWrite[] => {
    const row = findDocument.get(uri);
    if (row === undefined) return [];
    const chunks = findChunks.all(Number(row.id)).map((chunk) => {
      const fields = ownFields(chunk);
      assertOriginalContent({ ...fields, title: String(row.title) }, uri, collection);
      const vector = chunk.vector === null ? null : toTypedArray(Float32Array, chunk.vector);
      return { ...fields, start: Number(chunk.text_start), vector, words: rowToWords(chunk) };
    });
    return [{ document: rowToDocument(row), chunks }];
  });
}

/** The table of word vectors; an empty one in a file of format 3, which has none. */
export function wordVectorsTable(database: DatabaseSync): string {
  return formatVersion(database) > 3
    ? 'word_vectors'
    : '(SELECT 0 AS id, NULL AS text, NULL AS path WHERE false) AS word_vectors';
}

export function formatVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version);
}

/** Reads `words` and `path`. */
export function rowToWords(row: Row): ChunkWords | null {
  if (row.words === null) return null;
  return { text: unpackWords(row.words), path: unpackWords(row.path) };
}

/** Two values in one byte. */
export function packWords(words: Int8Array): Uint8Array {
  const level = (at: number) => ((words[at] ?? 0) / WORD_VALUE_STEP) & 15;
  return Uint8Array.from(
    { length: words.length / 2 },
    (_, index) => level(2 * index) | (level(2 * index + 1) << 4),
  );
}

function unpackWords(blob: unknown): Int8Array {
  const packed = toTypedArray(Int8Array, blob);
  const words = new Int8Array(packed.length * 2);
  packed.forEach((byte, index) => {
    words[2 * index] = ((byte << 28) >> 28) * WORD_VALUE_STEP;
    words[2 * index + 1] = (byte >> 4) * WORD_VALUE_STEP;
  });
  return words;
}

/** The columns of a chunk that are not those of its document. */
function ownFields(row: Row) {
  return {
    chunkId: String(row.chunk_id),
    chunkIndex: Number(row.chunk_index),
    text: String(row.text),
    headings: parseJson<string[]>(row.headings, []),
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

/** Damaged JSON is noticed by the hash or the checksum of its row. */
function parseJson<T>(text: unknown, ifDamaged: T): T {
  try {
    return JSON.parse(String(text)) as T;
  } catch {
    return ifDamaged;
  }
}

function textOrNull(value: unknown): string | null {
  return value === null ? null : String(value);
}
