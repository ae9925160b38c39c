import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { ChunkStore, StoreHit } from '../../ports/chunk-store.ts';
import { snapshot, transaction, view } from './database.ts';
import { addVectors, removeDocuments, writeDocuments } from './document-writer.ts';
import { findProblems } from './find-problems.ts';
import { readDocuments, SELECT_CHUNKS, toChunk, toDocument } from './rows.ts';
import { readMeta } from './schema.ts';
import { createSearch, filterCondition } from './search.ts';
import { storeFault } from './store-fault.ts';
import { compactTerms } from './term-segments.ts';
import { compactVectors } from './vector-segments.ts';

/** A collection in one SQLite file. `database` holds the schema already and belongs to the store from now on. */
export function createSqliteChunkStore(database: DatabaseSync, name: string, path: string): ChunkStore {
  const { embedder, dimensions } = readMeta(database);
  const { search, containing } = createSearch(database, dimensions);
  /** Chunks that came or went since the last `settle`. */
  let changed = 0;

  /** Everything the store does goes through here, so that a fault of the file reads as one. */
  async function guarded<T>(work: () => T): Promise<T> {
    try {
      return work();
    } catch (error) {
      throw storeFault(error, path);
    }
  }

  function count(from: string, ...parameters: string[]): number {
    return Number(database.prepare(`SELECT count(*) AS n FROM ${from}`).get(...parameters)?.n);
  }

  /** Runs a change that says how many chunks it concerned. */
  function change(work: () => number): Promise<void> {
    return guarded(() => {
      changed += transaction(database, work);
    });
  }

  return {
    name,
    identity: { embedder, dimensions },

    info: () =>
      guarded(() =>
        snapshot(database, () => {
          const modules = database
            .prepare(
              `SELECT module AS name, count(*) AS chunks FROM chunk JOIN document ON document.id = document_id
               WHERE module IS NOT NULL GROUP BY module ORDER BY module`,
            )
            .all();
          const { createdAt, updatedAt } = readMeta(database);
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
      // Read at once, so that the caller may write while it goes through them.
      for (const row of await guarded(() => database.prepare('SELECT * FROM document ORDER BY uri').all())) {
        yield toDocument(row);
      }
    },

    read: (uris) => guarded(() => snapshot(database, () => readDocuments(database, uris))),

    vectors: (contentHashes) =>
      guarded(() => {
        const rows = database
          .prepare(
            `SELECT content_hash, v FROM chunk JOIN vector ON vector.id = chunk.id
             WHERE content_hash IN (SELECT value FROM json_each(?)) GROUP BY content_hash`,
          )
          .all(JSON.stringify(contentHashes));
        return new Map(rows.map((row) => [String(row.content_hash), view(Float32Array, row.v)]));
      }),

    unembedded: () =>
      guarded(() => {
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

    withoutVector: () => guarded(() => count('unembedded')),

    async addVectors(vectors) {
      if (vectors.size > 0) await change(() => addVectors(database, dimensions, vectors));
    },

    async write(writes) {
      if (writes.length > 0) await change(() => writeDocuments(database, dimensions, writes));
    },

    async remove(uris) {
      if (uris.length > 0) await change(() => removeDocuments(database, dimensions, uris));
    },

    search: (request) =>
      guarded(() =>
        snapshot(database, () => {
          const hits = search(request);
          const rows = database
            .prepare(`${SELECT_CHUNKS} WHERE chunk.id IN (SELECT value FROM json_each(?))`)
            .all(JSON.stringify(hits.map(({ id }) => id)));
          const chunks = new Map(rows.map((row) => [Number(row.id), toChunk(row)]));
          return hits.flatMap(({ id, ...scores }): StoreHit[] => {
            const chunk = chunks.get(id);
            return chunk === undefined ? [] : [{ chunk, ...scores }];
          });
        }),
      ),

    containing: (terms) => guarded(() => snapshot(database, () => containing(terms))),

    count: (filter) =>
      guarded(() => {
        const condition = filterCondition(filter);
        return condition === null ? count('chunk') : count(`(${condition.sql})`, ...condition.parameters);
      }),

    chunks: (chunkIds) =>
      guarded(() => {
        const rows = database
          .prepare(`${SELECT_CHUNKS} WHERE chunk_id IN (SELECT value FROM json_each(?))`)
          .all(JSON.stringify(chunkIds));
        const found = new Map(rows.map((row) => [String(row.chunk_id), toChunk(row)]));
        return chunkIds.flatMap((chunkId) => found.get(chunkId) ?? []);
      }),

    withContent: (contentHashes) =>
      guarded(() =>
        database
          .prepare(
            `${SELECT_CHUNKS} WHERE chunk.content_hash IN (SELECT value FROM json_each(?)) ORDER BY url, chunk_index`,
          )
          .all(JSON.stringify(contentHashes))
          .map(toChunk),
      ),

    neighbours: (chunkId, before, after) =>
      guarded(() =>
        database
          .prepare(
            `${SELECT_CHUNKS} JOIN (SELECT document_id AS d, chunk_index AS i FROM chunk WHERE chunk_id = ?)
             ON document_id = d AND chunk_index BETWEEN i - ? AND i + ? ORDER BY chunk_index`,
          )
          .all(chunkId, before, after)
          .map(toChunk),
      ),

    settle: () =>
      guarded(() => {
        if (changed === 0) return;
        const chunks = transaction(database, () => {
          compactTerms(database);
          compactVectors(database, dimensions);
          return count('chunk');
        });
        // Worth its cost only after much has changed: pages of one kind then lie together, which a cold search feels.
        if (changed * 4 > chunks) optimize(database);
        changed = 0;
      }),

    check: () => guarded(() => snapshot(database, () => findProblems(database, dimensions))),

    close: async () => {
      if (database.isOpen) database.close();
    },
  };
}

/** Best effort: another process may be reading, or the disk may have no room for a second copy. */
function optimize(database: DatabaseSync): void {
  try {
    database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE);');
  } catch {
    // The collection is complete without it.
  }
}

function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
