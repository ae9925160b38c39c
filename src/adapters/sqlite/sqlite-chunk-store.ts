import type { DatabaseSync } from 'node:sqlite';
import { matchesContentHash } from '../../domain/document.ts';
import type { ChunkStore, ChunkWords, StoreHit } from '../../ports/chunk-store.ts';
import {
  formatVersion,
  readDocuments,
  rowToChunk,
  rowToDocument,
  rowToVerifiedChunk,
  rowToWords,
  SELECT_CHUNKS,
  wordVectorsTable,
} from './chunk-rows.ts';
import { createChunkSearch, toSqlCondition } from './chunk-search.ts';
import { readCollectionMetadata, writeCollectionMetadata } from './collection-file.ts';
import { fileBytes, findDamagedPages, inSnapshot, inTransaction, toTypedArray } from './database.ts';
import { addChunkVectors, removeDocuments, writeDocuments } from './document-writer.ts';
import { CHECKED_TABLES, DOCUMENT_TABLES, isChangedSql } from './row-checksums.ts';
import { toSqliteError } from './sqlite-error.ts';
import { compactTextSegments } from './text-segments.ts';
import { compactVectorSegments } from './vector-segments.ts';

/**
 * A collection in one SQLite file, which must have a readable schema. `prepareWrite` is called before each write. `close`
 * closes the database.
 */
export function createSqliteChunkStore(
  database: DatabaseSync,
  name: string,
  path: string,
  prepareWrite: () => void,
): ChunkStore {
  const { embedder, dimensions } = readCollectionMetadata(database);
  const { search, containing, termsFrom, total } = createChunkSearch(database, dimensions);
  /** Chunks added and removed since the last `settle`. */
  let changed = 0;

  /** Runs everything the store does, to convert errors of the file. */
  async function run<T>(work: () => T): Promise<T> {
    try {
      return work();
    } catch (error) {
      throw toSqliteError(error, path);
    }
  }

  /** Reads in one snapshot. */
  function read<T>(work: () => T): Promise<T> {
    return run(() => inSnapshot(database, work));
  }

  function count(from: string, ...parameters: string[]): number {
    return Number(database.prepare(`SELECT count(*) AS n FROM ${from}`).get(...parameters)?.n);
  }

  function selectChunks(condition: string, ...parameters: (string | number)[]) {
    return database.prepare(`${SELECT_CHUNKS} ${condition}`).all(...parameters);
  }

  const toChunk = (row: Record<string, unknown>) => rowToVerifiedChunk(row, name);

  /** Files of format 3 have none. */
  const hasChecksums = () => formatVersion(database) > 3;

  /** `work` returns the number of chunks it changed. */
  function change(work: () => number): Promise<void> {
    return run(() => {
      prepareWrite();
      changed += inTransaction(database, work);
    });
  }

  return {
    name,
    identity: { embedder, dimensions },

    info: () =>
      read(() => {
        const modules = database
          .prepare(
            `SELECT module AS name, count(*) AS chunks FROM chunk JOIN document ON document.id = document_id
             WHERE module IS NOT NULL GROUP BY module ORDER BY module`,
          )
          .all();
        return {
          name,
          ...readCollectionMetadata(database),
          documents: count('document'),
          chunks: count('chunk'),
          withoutVector: count('unembedded'),
          bytes: fileBytes(path) + fileBytes(`${path}-wal`),
          modules: modules.map((row) => ({ name: String(row.name), chunks: Number(row.chunks) })),
        };
      }),

    describe: (description) =>
      change(() => {
        writeCollectionMetadata(database, { description });
        return 0;
      }),

    async *documents() {
      // Read at once, so that the caller may write while iterating.
      for (const row of await run(() => database.prepare('SELECT * FROM document ORDER BY uri').all())) {
        yield rowToDocument(row);
      }
    },

    read: (uris) => read(() => readDocuments(database, uris, name)),

    vectors: (contentHashes) =>
      run(() => {
        const isIntact = hasChecksums() ? `NOT ${isChangedSql('vector')}` : 'true';
        const rows = database
          .prepare(
            `SELECT content_hash, vector.v AS vector, max(word_vectors.text) AS words, path FROM chunk
             JOIN vector ON vector.id = chunk.id
             LEFT JOIN ${wordVectorsTable(database)} ON word_vectors.id = chunk.id
             WHERE content_hash IN (SELECT value FROM json_each(?)) AND ${isIntact} GROUP BY content_hash`,
          )
          .all(JSON.stringify(contentHashes));
        return new Map(
          rows.map((row) => [
            String(row.content_hash),
            { vector: toTypedArray(Float32Array, row.vector), words: rowToWords(row) },
          ]),
        );
      }),

    wordVectors: (chunkIds) =>
      run(() => {
        const rows = database
          .prepare(
            `SELECT chunk_id, word_vectors.text AS words, path FROM chunk
             JOIN ${wordVectorsTable(database)} ON word_vectors.id = chunk.id
             WHERE chunk_id IN (SELECT value FROM json_each(?))`,
          )
          .all(JSON.stringify(chunkIds));
        return new Map(rows.map((row) => [String(row.chunk_id), rowToWords(row) as ChunkWords]));
      }),

    unembedded: ({ words } = { words: false }) =>
      run(() => {
        const withoutWords = `UNION SELECT id FROM chunk WHERE id NOT IN (SELECT id FROM ${wordVectorsTable(database)})`;
        const rows = database
          .prepare(
            `SELECT chunk_id, content_hash, token_count FROM chunk
             WHERE id IN (SELECT id FROM unembedded ${words ? withoutWords : ''}) ORDER BY id`,
          )
          .all();
        return rows.map((row) => ({
          chunkId: String(row.chunk_id),
          contentHash: String(row.content_hash),
          tokenCount: Number(row.token_count),
        }));
      }),

    withoutVector: () => run(() => count('unembedded')),

    async addVectors(vectors) {
      if (vectors.size > 0) await change(() => addChunkVectors(database, dimensions, vectors));
    },

    async write(writes) {
      if (writes.length > 0) await change(() => writeDocuments(database, dimensions, writes));
    },

    async remove(uris) {
      if (uris.length > 0) await change(() => removeDocuments(database, dimensions, uris));
    },

    search: (request) =>
      read(() => {
        const hits = search(request);
        const ids = JSON.stringify(hits.map(({ id }) => id));
        const rows = selectChunks('WHERE chunk.id IN (SELECT value FROM json_each(?))', ids);
        const chunks = new Map(rows.map((row) => [Number(row.id), toChunk(row)]));
        return hits.flatMap(({ id, ...scores }): StoreHit[] => {
          const chunk = chunks.get(id);
          return chunk === undefined ? [] : [{ chunk, ...scores }];
        });
      }),

    containing: (terms) => read(() => containing(terms)),

    termsFrom: (prefix) => read(() => termsFrom(prefix)),

    count: (filter) =>
      run(() => {
        const condition = toSqlCondition(filter);
        if (condition === null) return inSnapshot(database, total);
        return count(`(${condition.sql})`, ...condition.parameters);
      }),

    chunks: (chunkIds) =>
      run(() => {
        const rows = selectChunks(
          'WHERE chunk_id IN (SELECT value FROM json_each(?))',
          JSON.stringify(chunkIds),
        );
        const found = new Map(rows.map((row) => [String(row.chunk_id), toChunk(row)]));
        return chunkIds.flatMap((chunkId) => found.get(chunkId) ?? []);
      }),

    neighbours: (chunkId, before, after) =>
      run(() =>
        selectChunks(
          `JOIN (SELECT document_id AS d, chunk_index AS i FROM chunk WHERE chunk_id = ?)
           ON document_id = d AND chunk_index BETWEEN i - ? AND i + ? ORDER BY chunk_index`,
          chunkId,
          before,
          after,
        ).map(toChunk),
      ),

    settle: () =>
      run(() => {
        if (changed === 0) return;
        const chunks = inTransaction(database, () => {
          compactTextSegments(database);
          compactVectorSegments(database, dimensions);
          return count('chunk');
        });
        // Only after many changes: it puts the pages of a table next to each other, which speeds up cold searches.
        if (changed * 4 > chunks) optimize(database);
        changed = 0;
      }),

    check: () => read(() => findCollectionProblems(database, count, hasChecksums())),

    damaged: () => read(() => findDamagedDocuments(database, hasChecksums())),

    close: async () => {
      if (database.isOpen) database.close();
    },
  };
}

/** May fail: another process may be reading, or the disk may be too full for a copy. */
function optimize(database: DatabaseSync): void {
  try {
    database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE);');
  } catch {
    // Optional.
  }
}

/** What is wrong with a collection file, one sentence each: damaged pages, or tables that contradict each other. */
function findCollectionProblems(
  database: DatabaseSync,
  count: (from: string) => number,
  hasChecksums: boolean,
): string[] {
  const problems: [number, string][] = [
    [count('chunk WHERE document_id NOT IN (SELECT id FROM document)'), 'chunks have no document'],
    [
      count('chunk WHERE id NOT IN (SELECT id FROM vector UNION ALL SELECT id FROM unembedded)'),
      'chunks have no vector',
    ],
    [
      count('unembedded JOIN vector ON vector.id = unembedded.id'),
      'chunks have a vector but are marked as not embedded',
    ],
    [count('vector WHERE id NOT IN (SELECT id FROM chunk)'), 'vectors belong to no chunk'],
    [
      count(`${wordVectorsTable(database)} WHERE id NOT IN (SELECT id FROM chunk)`),
      'word vectors belong to no chunk',
    ],
    [count('segment_meta WHERE id NOT IN (SELECT id FROM segment)'), 'vector segments are empty'],
    [count('posting WHERE segment NOT IN (SELECT id FROM text_segment)'), 'terms belong to no segment'],
  ];
  for (const table of hasChecksums ? CHECKED_TABLES : []) {
    if (DOCUMENT_TABLES.includes(table)) continue;
    const changed = count(`${table} WHERE ${isChangedSql(table)}`);
    problems.push([changed, `rows of the table ${table} do not match their checksum`]);
  }
  return [
    ...findDamagedPages(database),
    ...problems.filter(([rows]) => rows > 0).map(([rows, problem]) => `${rows} ${problem}.`),
  ];
}

/** URIs of documents with a chunk that does not match its hash, or a row that does not match its checksum. */
function findDamagedDocuments(database: DatabaseSync, hasChecksums: boolean): string[] {
  const uris = new Set<string>();
  for (const row of database.prepare(SELECT_CHUNKS).iterate()) {
    if (!matchesContentHash(rowToChunk(row))) uris.add(String(row.uri));
  }
  if (hasChecksums) {
    const changed = database.prepare(
      `SELECT DISTINCT uri FROM document LEFT JOIN chunk ON chunk.document_id = document.id
       LEFT JOIN vector ON vector.id = chunk.id LEFT JOIN word_vectors ON word_vectors.id = chunk.id
       WHERE ${DOCUMENT_TABLES.map(isChangedSql).join(' OR ')}`,
    );
    for (const { uri } of changed.iterate()) uris.add(String(uri));
  }
  return [...uris].sort();
}
