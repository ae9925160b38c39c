import type { DatabaseSync } from 'node:sqlite';
import { duplicateUrlError, invalidVectorError } from '../../domain/collection-identity.ts';
import type {
  ChunkRecord,
  ChunkVectors,
  ChunkWords,
  DocumentRecord,
  DocumentWrite,
} from '../../ports/chunk-store.ts';
import { packWords } from './chunk-rows.ts';
import { markChunksRemoved, needsCompaction } from './chunk-segments.ts';
import { writeCollectionMetadata } from './collection-file.ts';
import { toBytes } from './database.ts';
import { createCheckedInsert } from './row-checksums.ts';
import { compactTextSegments, createTextSegmentWriter, TEXT_SEGMENTS } from './text-segments.ts';
import {
  compactVectorSegments,
  createVectorSegmentWriter,
  quantizeVector,
  VECTOR_SEGMENTS,
} from './vector-segments.ts';

const NOT_UNIQUE = 2067;

/** Adds or replaces documents and returns the number of chunks added and removed. Runs inside the caller's transaction. */
export function writeDocuments(
  database: DatabaseSync,
  dimensions: number,
  writes: readonly DocumentWrite[],
): number {
  // All removals first: a new document may have the address of one that another in the batch replaces.
  const replaced = writes.flatMap(({ document, replaces }) => [document.uri, replaces ?? document.uri]);
  let changed = deleteDocuments(database, replaced).chunks;
  const insertDocument = createCheckedInsert(database, 'document');
  const insertChunk = createChunkInsert(database);
  const insertUnembedded = database.prepare('INSERT INTO unembedded (id) VALUES (?)');
  const vectors = createVectorWriter(database, dimensions);
  const texts = createTextSegmentWriter(database);
  // The last version of a document in a batch wins.
  for (const { document, chunks } of new Map(writes.map((write) => [write.document.uri, write])).values()) {
    const { contentHash: content_hash, metadata, ...columns } = document;
    const documentId = insertDocument({ ...columns, content_hash, metadata: JSON.stringify(metadata) });
    for (const chunk of chunks) {
      const id = insertChunk(documentId, chunk, document);
      texts.add(id, document.title, chunk.headings, chunk.text);
      if (chunk.vector === null) insertUnembedded.run(id);
      else vectors.add(id, chunk.vector);
      if (chunk.words !== null) vectors.addWords(id, chunk.words);
    }
    changed += chunks.length;
  }
  texts.flush();
  vectors.flush();
  finishChange(database, dimensions);
  return changed;
}

/** Adds vectors to chunks without them and returns the number of those chunks. Runs inside the caller's transaction. */
export function addChunkVectors(
  database: DatabaseSync,
  dimensions: number,
  vectors: ReadonlyMap<string, ChunkVectors>,
): number {
  const waiting = database
    .prepare(
      `SELECT chunk.id, content_hash, unembedded.id IS NOT NULL AS without_vector FROM chunk
       LEFT JOIN unembedded ON unembedded.id = chunk.id LEFT JOIN word_vectors ON word_vectors.id = chunk.id
       WHERE content_hash IN (SELECT value FROM json_each(?))
       AND (unembedded.id IS NOT NULL OR word_vectors.id IS NULL)`,
    )
    .all(JSON.stringify([...vectors.keys()]));
  const writer = createVectorWriter(database, dimensions);
  const deleteUnembedded = database.prepare('DELETE FROM unembedded WHERE id = ?');
  for (const { id, content_hash, without_vector } of waiting) {
    const added = vectors.get(String(content_hash));
    if (added === undefined) continue;
    if (without_vector === 1) {
      writer.add(Number(id), added.vector);
      deleteUnembedded.run(Number(id));
    }
    if (added.words !== null) writer.addWords(Number(id), added.words);
  }
  writer.flush();
  if (waiting.length > 0) finishChange(database, dimensions);
  return waiting.length;
}

/** Removes documents and returns the number of chunks removed. Runs inside the caller's transaction. */
export function removeDocuments(database: DatabaseSync, dimensions: number, uris: readonly string[]): number {
  const { documents, chunks } = deleteDocuments(database, uris);
  if (documents > 0) finishChange(database, dimensions);
  return chunks;
}

function finishChange(database: DatabaseSync, dimensions: number): void {
  if (needsCompaction(database, TEXT_SEGMENTS)) compactTextSegments(database);
  if (needsCompaction(database, VECTOR_SEGMENTS)) compactVectorSegments(database, dimensions);
  writeCollectionMetadata(database, { updatedAt: new Date().toISOString() });
}

function deleteDocuments(
  database: DatabaseSync,
  uris: readonly string[],
): { documents: number; chunks: number } {
  const given = JSON.stringify(uris);
  const documents = 'SELECT id FROM document WHERE uri IN (SELECT value FROM json_each(?))';
  const chunks = database.prepare(`SELECT id FROM chunk WHERE document_id IN (${documents})`).all(given);
  const chunkIds = chunks.map((row) => Number(row.id));
  for (const table of ['vector', 'word_vectors', 'unembedded']) {
    database
      .prepare(`DELETE FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`)
      .run(JSON.stringify(chunkIds));
  }
  database.prepare(`DELETE FROM chunk WHERE document_id IN (${documents})`).run(given);
  const { changes } = database.prepare(`DELETE FROM document WHERE id IN (${documents})`).run(given);
  for (const table of [TEXT_SEGMENTS, VECTOR_SEGMENTS]) markChunksRemoved(database, table, chunkIds);
  return { documents: Number(changes), chunks: chunkIds.length };
}

function createChunkInsert(database: DatabaseSync) {
  /** The document whose address gives a chunk this id. */
  const findOwner = database.prepare(
    'SELECT uri FROM document JOIN chunk ON document.id = document_id WHERE chunk_id = ?',
  );
  const insert = createCheckedInsert(database, 'chunk');
  return (documentId: number, chunk: ChunkRecord, document: DocumentRecord): number => {
    const { chunkId, location: at } = chunk;
    const row = {
      document_id: documentId,
      chunk_index: chunk.chunkIndex,
      chunk_id: chunkId,
      headings: JSON.stringify(chunk.headings),
      location: at ? `${at.unit} ${at.from} ${at.to}` : null,
      token_count: chunk.tokenCount,
      content_hash: chunk.contentHash,
      text_start: chunk.start,
      text: chunk.text,
    };
    try {
      return insert(row);
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== NOT_UNIQUE) throw error;
      const owner = findOwner.get(chunkId);
      throw duplicateUrlError(document, String(owner?.uri ?? 'itself'), error);
    }
  };
}

/** Writes exact and quantized vectors. Throws `configuration_error` for a vector of another length. */
function createVectorWriter(database: DatabaseSync, dimensions: number) {
  const insert = createCheckedInsert(database, 'vector', ['id']);
  const insertWords = createCheckedInsert(database, 'word_vectors', ['id']);
  const removeWords = database.prepare('DELETE FROM word_vectors WHERE id = ?');
  const segments = createVectorSegmentWriter(database, dimensions);
  return {
    add(id: number, vector: Float32Array): void {
      const quantized = quantizeVector(vector);
      if (vector.length !== dimensions || !Number.isFinite(quantized.scale))
        throw invalidVectorError(dimensions);
      insert({ id, v: toBytes(vector) });
      segments.add(id, quantized);
    },
    addWords(id: number, { text, path }: ChunkWords): void {
      removeWords.run(id);
      insertWords({ id, text: packWords(text), path: packWords(path) });
    },
    flush: segments.flush,
  };
}
