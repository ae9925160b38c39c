import type { DatabaseSync } from 'node:sqlite';
import { addressTaken, unusableVector } from '../../domain/collection-identity.ts';
import type { ChunkRecord, DocumentRecord, DocumentWrite } from '../../ports/chunk-store.ts';
import { bytesOf } from './database.ts';
import { type QuantizedVector, quantize } from './quantize.ts';
import { writeMeta } from './schema.ts';
import { markDead, needsCompaction } from './segments.ts';
import { compactTerms, createTermWriter, TERM_SEGMENTS } from './term-segments.ts';
import { compactVectors, createSegmentWriter, VECTOR_SEGMENTS } from './vector-segments.ts';

const NOT_UNIQUE = 2067;

/** Adds or replaces documents and returns how many chunks came or went. Runs inside the caller's transaction. */
export function writeDocuments(
  database: DatabaseSync,
  dimensions: number,
  writes: readonly DocumentWrite[],
): number {
  // First all removals: a new document may have the address of one that another in the same batch replaces.
  const gone = writes.flatMap(({ document, replaces }) => [document.uri, replaces ?? document.uri]);
  let changed = dropDocuments(database, gone).chunks;
  const insertDocument = createDocumentInsert(database);
  const insertChunk = createChunkInsert(database);
  const vectors = createVectorInsert(database, dimensions);
  const postpone = database.prepare('INSERT INTO unembedded (id) VALUES (?)');
  const terms = createTermWriter(database);
  // Of two versions of a document in one batch the later counts.
  for (const { document, chunks } of new Map(writes.map((write) => [write.document.uri, write])).values()) {
    const documentId = insertDocument(document);
    for (const chunk of chunks) {
      const id = insertChunk(documentId, chunk, document);
      terms.add(id, document.title, chunk.headings, chunk.text);
      if (chunk.vector === null) postpone.run(id);
      else vectors.add(id, chunk.vector);
    }
    changed += chunks.length;
  }
  terms.flush();
  vectors.flush();
  tidy(database, dimensions);
  return changed;
}

/** Gives vectors to chunks that have none and returns how many got one. Runs inside the caller's transaction. */
export function addVectors(
  database: DatabaseSync,
  dimensions: number,
  vectors: ReadonlyMap<string, Float32Array>,
): number {
  const waiting = database
    .prepare(
      `SELECT chunk.id, content_hash FROM unembedded JOIN chunk ON chunk.id = unembedded.id
       WHERE content_hash IN (SELECT value FROM json_each(?))`,
    )
    .all(JSON.stringify([...vectors.keys()]));
  const insert = createVectorInsert(database, dimensions);
  const done = database.prepare('DELETE FROM unembedded WHERE id = ?');
  for (const { id, content_hash } of waiting) {
    const vector = vectors.get(String(content_hash));
    if (vector === undefined) continue;
    insert.add(Number(id), vector);
    done.run(Number(id));
  }
  insert.flush();
  if (waiting.length > 0) tidy(database, dimensions);
  return waiting.length;
}

/** Removes documents and returns how many chunks went with them. Runs inside the caller's transaction. */
export function removeDocuments(database: DatabaseSync, dimensions: number, uris: readonly string[]): number {
  const { documents, chunks } = dropDocuments(database, uris);
  if (documents > 0) tidy(database, dimensions);
  return chunks;
}

function tidy(database: DatabaseSync, dimensions: number): void {
  if (needsCompaction(database, TERM_SEGMENTS)) compactTerms(database);
  if (needsCompaction(database, VECTOR_SEGMENTS)) compactVectors(database, dimensions);
  writeMeta(database, { updatedAt: new Date().toISOString() });
}

function dropDocuments(
  database: DatabaseSync,
  uris: readonly string[],
): { documents: number; chunks: number } {
  let documents = 0;
  const chunkIds: number[] = [];
  const findDocument = database.prepare('SELECT id FROM document WHERE uri = ?');
  const findChunks = database.prepare('SELECT id FROM chunk WHERE document_id = ?');
  const dropVector = database.prepare('DELETE FROM vector WHERE id = ?');
  const dropUnembedded = database.prepare('DELETE FROM unembedded WHERE id = ?');
  const dropChunks = database.prepare('DELETE FROM chunk WHERE document_id = ?');
  const dropDocument = database.prepare('DELETE FROM document WHERE id = ?');
  for (const uri of uris) {
    const document = findDocument.get(uri);
    if (document === undefined) continue;
    const documentId = Number(document.id);
    for (const row of findChunks.all(documentId)) {
      const chunkId = Number(row.id);
      dropVector.run(chunkId);
      dropUnembedded.run(chunkId);
      chunkIds.push(chunkId);
    }
    dropChunks.run(documentId);
    dropDocument.run(documentId);
    documents += 1;
  }
  for (const table of [TERM_SEGMENTS, VECTOR_SEGMENTS]) markDead(database, table, chunkIds);
  return { documents, chunks: chunkIds.length };
}

function createDocumentInsert(database: DatabaseSync) {
  const insert = database.prepare(
    `INSERT INTO document (uri, url, root, title, module, chapter, metadata, content_hash, fingerprint)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (document: DocumentRecord): number => {
    const { lastInsertRowid } = insert.run(
      document.uri,
      document.url,
      document.root,
      document.title,
      document.module,
      document.chapter,
      JSON.stringify(document.metadata),
      document.contentHash,
      document.fingerprint,
    );
    return Number(lastInsertRowid);
  };
}

function createChunkInsert(database: DatabaseSync) {
  const insert = database.prepare(
    `INSERT INTO chunk (document_id, chunk_index, chunk_id, headings, location, token_count, content_hash,
       text_start, text)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (documentId: number, chunk: ChunkRecord, document: DocumentRecord): number => {
    try {
      const { lastInsertRowid } = insert.run(
        documentId,
        chunk.chunkIndex,
        chunk.chunkId,
        JSON.stringify(chunk.headings),
        chunk.location ? `${chunk.location.unit} ${chunk.location.from} ${chunk.location.to}` : null,
        chunk.tokenCount,
        chunk.contentHash,
        chunk.start,
        chunk.text,
      );
      return Number(lastInsertRowid);
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== NOT_UNIQUE) throw error;
      throw addressTaken(document, ownerOf(database, chunk), error);
    }
  };
}

/** The id of a chunk that is there already belongs to another document of the same address. */
function ownerOf(database: DatabaseSync, { chunkId }: ChunkRecord): string {
  const owner = database
    .prepare('SELECT uri FROM document JOIN chunk ON document.id = document_id WHERE chunk_id = ?')
    .get(chunkId);
  return String(owner?.uri ?? 'itself');
}

/** Both forms of a vector; `flush` ends a run of them. */
function createVectorInsert(database: DatabaseSync, dimensions: number) {
  const insert = database.prepare('INSERT INTO vector (id, v) VALUES (?, ?)');
  const segments = createSegmentWriter(database, dimensions);
  return {
    add(id: number, vector: Float32Array): void {
      const quantized = quantizeChecked(vector, dimensions);
      insert.run(id, bytesOf(vector));
      segments.add(id, quantized);
    },
    flush: segments.flush,
  };
}

/** One vector of another length would shift all that follow it in its segment. */
function quantizeChecked(vector: Float32Array, dimensions: number): QuantizedVector {
  const quantized = quantize(vector);
  if (vector.length === dimensions && Number.isFinite(quantized.scale)) return quantized;
  throw unusableVector(dimensions);
}
