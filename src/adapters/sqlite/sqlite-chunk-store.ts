import type { DatabaseSync } from 'node:sqlite';
import type { ChunkStore, StoreHit } from '../../ports/chunk-store.ts';
import { readDocuments, rowToChunk, rowToDocument, SELECT_CHUNKS } from './chunk-rows.ts';
import { createChunkSearch, toSqlCondition } from './chunk-search.ts';
import { readCollectionMetadata } from './collection-file.ts';
import { fileBytes, findDamagedPages, inSnapshot, inTransaction, toTypedArray } from './database.ts';
import { addChunkVectors, removeDocuments, writeDocuments } from './document-writer.ts';
import { toSqliteError } from './sqlite-error.ts';
import { compactTextSegments } from './text-segments.ts';
import { compactVectorSegments } from './vector-segments.ts';

/** A collection in one SQLite file, which must have the schema. `close` closes the database. */
export function createSqliteChunkStore(database: DatabaseSync, name: string, path: string): ChunkStore {
  const { embedder, dimensions } = readCollectionMetadata(database);
  const { search, containing } = createChunkSearch(database, dimensions);
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

  function count(from: string, ...parameters: string[]): number {
    return Number(database.prepare(`SELECT count(*) AS n FROM ${from}`).get(...parameters)?.n);
  }

  function selectChunks(condition: string, ...parameters: (string | number)[]) {
    return database.prepare(`${SELECT_CHUNKS} ${condition}`).all(...parameters);
  }

  /** `work` returns the number of chunks it changed. */
  function change(work: () => number): Promise<void> {
    return run(() => {
      changed += inTransaction(database, work);
    });
  }

  return {
    name,
    identity: { embedder, dimensions },

    info: () =>
      run(() =>
        inSnapshot(database, () => {
          const modules = database
            .prepare(
              `SELECT module AS name, count(*) AS chunks FROM chunk JOIN document ON document.id = document_id
               WHERE module IS NOT NULL GROUP BY module ORDER BY module`,
            )
            .all();
          const { createdAt, updatedAt } = readCollectionMetadata(database);
          return {
            name,
            embedder,
            dimensions,
            documents: count('document'),
            chunks: count('chunk'),
            withoutVector: count('unembedded'),
            bytes: fileBytes(path) + fileBytes(`${path}-wal`),
            createdAt,
            updatedAt,
            modules: modules.map((row) => ({ name: String(row.name), chunks: Number(row.chunks) })),
          };
        }),
      ),

    async *documents() {
      // Read at once, so that the caller may write while iterating.
      for (const row of await run(() => database.prepare('SELECT * FROM document ORDER BY uri').all())) {
        yield rowToDocument(row);
      }
    },

    read: (uris) => run(() => inSnapshot(database, () => readDocuments(database, uris))),

    vectors: (contentHashes) =>
      run(() => {
        const rows = database
          .prepare(
            `SELECT content_hash, v FROM chunk JOIN vector ON vector.id = chunk.id
             WHERE content_hash IN (SELECT value FROM json_each(?)) GROUP BY content_hash`,
          )
          .all(JSON.stringify(contentHashes));
        return new Map(rows.map((row) => [String(row.content_hash), toTypedArray(Float32Array, row.v)]));
      }),

    unembedded: () =>
      run(() => {
        const rows = database
          .prepare(
            `SELECT chunk_id, content_hash, token_count
             FROM unembedded JOIN chunk ON chunk.id = unembedded.id ORDER BY chunk.id`,
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
      run(() =>
        inSnapshot(database, () => {
          const hits = search(request);
          const ids = JSON.stringify(hits.map(({ id }) => id));
          const rows = selectChunks('WHERE chunk.id IN (SELECT value FROM json_each(?))', ids);
          const chunks = new Map(rows.map((row) => [Number(row.id), rowToChunk(row)]));
          return hits.flatMap(({ id, ...scores }): StoreHit[] => {
            const chunk = chunks.get(id);
            return chunk === undefined ? [] : [{ chunk, ...scores }];
          });
        }),
      ),

    containing: (terms) => run(() => inSnapshot(database, () => containing(terms))),

    count: (filter) =>
      run(() => {
        const condition = toSqlCondition(filter);
        return condition === null ? count('chunk') : count(`(${condition.sql})`, ...condition.parameters);
      }),

    chunks: (chunkIds) =>
      run(() => {
        const rows = selectChunks(
          'WHERE chunk_id IN (SELECT value FROM json_each(?))',
          JSON.stringify(chunkIds),
        );
        const found = new Map(rows.map((row) => [String(row.chunk_id), rowToChunk(row)]));
        return chunkIds.flatMap((chunkId) => found.get(chunkId) ?? []);
      }),

    withContent: (contentHashes) =>
      run(() =>
        selectChunks(
          'WHERE chunk.content_hash IN (SELECT value FROM json_each(?)) ORDER BY url, chunk_index',
          JSON.stringify(contentHashes),
        ).map(rowToChunk),
      ),

    neighbours: (chunkId, before, after) =>
      run(() =>
        selectChunks(
          `JOIN (SELECT document_id AS d, chunk_index AS i FROM chunk WHERE chunk_id = ?)
           ON document_id = d AND chunk_index BETWEEN i - ? AND i + ? ORDER BY chunk_index`,
          chunkId,
          before,
          after,
        ).map(rowToChunk),
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

    check: () => run(() => inSnapshot(database, () => findCollectionProblems(database, count))),

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
function findCollectionProblems(database: DatabaseSync, count: (from: string) => number): string[] {
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
  ];
  return [
    ...findDamagedPages(database),
    ...problems.filter(([rows]) => rows > 0).map(([rows, problem]) => `${rows} ${problem}.`),
  ];
}
