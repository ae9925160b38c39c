import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { CollectionIdentity } from '../../domain/collection-identity.ts';
import { fusedScore, type RankedScore, similarity } from '../../domain/fusion.ts';
import type {
  ChunkStore,
  DocumentRecord,
  DocumentWrite,
  StoredChunk,
  StoreHit,
} from '../../ports/chunk-store.ts';
import { filterCondition } from './filter-condition.ts';
import { createFullText } from './full-text.ts';
import { storeFault, transaction } from './open-database.ts';
import { cosine, quantize } from './quantize.ts';
import { createVectorIndex, type ScoredId } from './vector-index.ts';
import { bytesOf, compact, createSegmentWriter, markDead, needsCompaction, view } from './vector-segments.ts';

/** How many candidates each half of a search puts forward, at least. */
const CANDIDATES = 100;

const CHUNK_COLUMNS = `chunk.id, chunk_id, text, url, title, module, chapter, headings, chunk_index, token_count,
  chunk.content_hash AS content_hash`;

type Row = Record<string, unknown>;

/** A collection in one SQLite file. `database` holds the schema already and belongs to the store from now on. */
export function createSqliteChunkStore(database: DatabaseSync, name: string, path: string): ChunkStore {
  const meta = readMeta(database);
  const fullText = createFullText(database);
  const index = createVectorIndex(database, meta.dimensions);
  let written = 0;

  /** Everything the store does goes through here, so that a fault of the file reads as one. */
  async function guarded<T>(work: () => T): Promise<T> {
    try {
      return work();
    } catch (error) {
      throw storeFault(error, path);
    }
  }

  function removeDocument(uri: string): boolean {
    const document = database.prepare('SELECT id FROM document WHERE uri = ?').get(uri);
    if (document === undefined) return false;
    const id = Number(document.id);
    const chunkIds = database
      .prepare('SELECT id FROM chunk WHERE document_id = ?')
      .all(id)
      .map((row) => Number(row.id));
    const dropVector = database.prepare('DELETE FROM vector WHERE id = ?');
    for (const chunkId of chunkIds) {
      fullText.remove(chunkId);
      dropVector.run(chunkId);
    }
    markDead(database, chunkIds);
    database.prepare('DELETE FROM chunk WHERE document_id = ?').run(id);
    database.prepare('DELETE FROM document WHERE id = ?').run(id);
    return true;
  }

  function touch(): void {
    database
      .prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('updatedAt', ?)")
      .run(new Date().toISOString());
  }

  function writeAll(writes: readonly DocumentWrite[]): void {
    const insertDocument = database.prepare(
      `INSERT INTO document (uri, url, root, title, module, chapter, metadata, content_hash, fingerprint)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const insertChunk = database.prepare(
      `INSERT INTO chunk (document_id, chunk_index, chunk_id, headings, token_count, content_hash, text_start, text)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const insertVector = database.prepare('INSERT INTO vector (id, v) VALUES (?, ?)');
    const segments = createSegmentWriter(database, meta.dimensions);
    // First all removals: a new document may have the address of one that another in the same batch replaces.
    for (const { document, replaces } of writes) {
      removeDocument(document.uri);
      if (replaces !== undefined) removeDocument(replaces);
    }
    for (const { document, chunks } of writes) {
      const documentId = insertDocument.run(
        document.uri,
        document.url,
        document.root,
        document.title,
        document.module,
        document.chapter,
        JSON.stringify(document.metadata),
        document.contentHash,
        document.fingerprint,
      ).lastInsertRowid;
      for (const chunk of chunks) {
        const id = Number(
          insertChunk.run(
            documentId,
            chunk.chunkIndex,
            chunk.chunkId,
            JSON.stringify(chunk.headings),
            chunk.tokenCount,
            chunk.contentHash,
            chunk.start,
            chunk.text,
          ).lastInsertRowid,
        );
        insertVector.run(id, bytesOf(chunk.vector));
        fullText.add(id, [document.title, ...chunk.headings].join('\n'), chunk.text);
        segments.add(id, quantize(chunk.vector));
        written += 1;
      }
    }
    segments.flush();
    touch();
  }

  function readChunks(ids: readonly number[]): Map<number, StoredChunk> {
    const rows = database
      .prepare(
        `SELECT ${CHUNK_COLUMNS} FROM chunk JOIN document ON document.id = document_id
         WHERE chunk.id IN (SELECT value FROM json_each(?))`,
      )
      .all(JSON.stringify(ids));
    return new Map(rows.map((row) => [Number(row.id), toChunk(row)]));
  }

  /** The true similarity of candidates, from the exact vectors. */
  function rescore(query: Float32Array, ids: readonly number[]): ScoredId[] {
    return database
      .prepare('SELECT id, v FROM vector WHERE id IN (SELECT value FROM json_each(?))')
      .all(JSON.stringify(ids))
      .map((row) => ({ id: Number(row.id), score: cosine(query, view(Float32Array, row.v)) }))
      .sort((a, b) => b.score - a.score || a.id - b.id);
  }

  return {
    name,
    identity: { embedder: meta.embedder, dimensions: meta.dimensions },

    info: () =>
      guarded(() => {
        const count = (table: string) =>
          Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
        const modules = database
          .prepare(
            `SELECT module AS name, count(*) AS chunks FROM chunk JOIN document ON document.id = document_id
             WHERE module IS NOT NULL GROUP BY module ORDER BY module`,
          )
          .all();
        const { createdAt, updatedAt } = readMeta(database);
        return {
          name,
          embedder: meta.embedder,
          dimensions: meta.dimensions,
          documents: count('document'),
          chunks: count('chunk'),
          bytes: fileBytes(path) + fileBytes(`${path}-wal`),
          createdAt,
          updatedAt,
          modules: modules.map((row) => ({ name: String(row.name), chunks: Number(row.chunks) })),
        };
      }),

    async *documents() {
      // Read at once, so that the caller may write while it goes through them.
      for (const row of await guarded(() => database.prepare('SELECT * FROM document ORDER BY uri').all())) {
        yield toDocument(row);
      }
    },

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

    write: (writes) =>
      guarded(() => {
        transaction(database, () => writeAll(writes));
        if (needsCompaction(database)) transaction(database, () => compact(database, meta.dimensions));
      }),

    remove: (uris) =>
      guarded(() => {
        transaction(database, () => {
          if (uris.map(removeDocument).includes(true)) touch();
        });
      }),

    search: ({ text, vector, limit, filter }) =>
      guarded(() => {
        const condition = filterCondition(filter);
        const candidates = Math.max(CANDIDATES, limit);
        const lexical = text === null ? [] : fullText.search(text, candidates, condition);
        let dense: ScoredId[] = [];
        if (vector !== null) {
          const allowed =
            condition &&
            new Set(
              database
                .prepare(condition.sql)
                .all(...condition.parameters)
                .map((row) => Number(row.id)),
            );
          const nearest = index.nearest(vector, candidates, allowed).map(({ id }) => id);
          dense = rescore(vector, [...new Set([...nearest, ...lexical.map(({ id }) => id)])]);
        }
        const mode = { lexical: text !== null, dense: vector !== null };
        return rank(lexical, dense, mode, limit, readChunks);
      }),

    count: (filter) =>
      guarded(() => {
        const condition = filterCondition(filter);
        const from = condition === null ? 'chunk' : `(${condition.sql})`;
        return Number(
          database.prepare(`SELECT count(*) AS n FROM ${from}`).get(...(condition?.parameters ?? []))?.n,
        );
      }),

    chunks: (chunkIds) =>
      guarded(() => {
        const rows = database
          .prepare(
            `SELECT ${CHUNK_COLUMNS} FROM chunk JOIN document ON document.id = document_id
             WHERE chunk_id IN (SELECT value FROM json_each(?))`,
          )
          .all(JSON.stringify(chunkIds));
        const found = new Map(rows.map((row) => [String(row.chunk_id), toChunk(row)]));
        return chunkIds.flatMap((chunkId) => found.get(chunkId) ?? []);
      }),

    neighbours: (chunkId, before, after) =>
      guarded(() =>
        database
          .prepare(
            `SELECT ${CHUNK_COLUMNS} FROM chunk JOIN document ON document.id = chunk.document_id
             JOIN (SELECT document_id AS d, chunk_index AS i FROM chunk WHERE chunk_id = ?)
             ON document_id = d AND chunk_index BETWEEN i - ? AND i + ? ORDER BY chunk_index`,
          )
          .all(chunkId, before, after)
          .map(toChunk),
      ),

    settle: () =>
      guarded(() => {
        if (written === 0) return;
        const total = Number(database.prepare('SELECT count(*) AS n FROM chunk').get()?.n);
        transaction(database, () => {
          compact(database, meta.dimensions);
          fullText.refreshCommonTerms();
        });
        // Worth its cost only after much has changed: pages of one kind then lie together, which a cold search feels.
        if (written * 4 > total) optimize(database);
        written = 0;
      }),

    check: () =>
      guarded(() => {
        const problems = database
          .prepare('PRAGMA integrity_check(5)')
          .all()
          .map((row) => String(row.integrity_check))
          .filter((line) => line !== 'ok');
        const orphans = Number(
          database
            .prepare(
              'SELECT count(*) AS n FROM chunk LEFT JOIN vector ON vector.id = chunk.id WHERE v IS NULL',
            )
            .get()?.n,
        );
        if (orphans > 0) problems.push(`${orphans} chunks have no vector.`);
        const packed = Number(
          database.prepare('SELECT sum(size - dead) AS n FROM segment_meta').get()?.n ?? 0,
        );
        const chunks = Number(database.prepare('SELECT count(*) AS n FROM chunk').get()?.n);
        if (packed !== chunks) problems.push(`${packed} vectors are packed for ${chunks} chunks.`);
        return problems;
      }),

    close: async () => {
      if (database.isOpen) database.close();
    },
  };
}

/** Joins both halves of a search into one order. */
function rank(
  lexical: readonly ScoredId[],
  dense: readonly ScoredId[],
  mode: { lexical: boolean; dense: boolean },
  limit: number,
  readChunks: (ids: readonly number[]) => Map<number, StoredChunk>,
): StoreHit[] {
  const lexicalById = ranked(lexical);
  const denseById = ranked(dense);
  const best = [...new Set([...lexicalById.keys(), ...denseById.keys()])]
    .map((id) => ({ id, lexical: lexicalById.get(id) ?? null, dense: denseById.get(id) ?? null }))
    .map((hit) => ({ ...hit, fusedScore: fusedScore(hit, mode) }))
    .sort((a, b) => b.fusedScore - a.fusedScore || a.id - b.id)
    .slice(0, limit);
  const chunks = readChunks(best.map(({ id }) => id));
  return best.flatMap(({ id, ...scores }) => {
    const chunk = chunks.get(id);
    return chunk === undefined ? [] : [{ chunk, ...scores, score: similarity(scores, mode) }];
  });
}

function ranked(scored: readonly ScoredId[]): Map<number, RankedScore> {
  return new Map(scored.map(({ id, score }, index) => [id, { rank: index + 1, score }]));
}

/** Best effort: another process may be reading, or the disk may have no room for a second copy. */
function optimize(database: DatabaseSync): void {
  try {
    database.exec("INSERT INTO terms (terms) VALUES ('optimize')");
    database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE);');
  } catch {
    // The collection is complete without it.
  }
}

function readMeta(database: DatabaseSync): CollectionIdentity & { createdAt: string; updatedAt: string } {
  const rows = database.prepare('SELECT key, value FROM meta').all();
  const values = new Map(rows.map((row) => [String(row.key), String(row.value)]));
  return {
    embedder: values.get('embedder') ?? '',
    dimensions: Number(values.get('dimensions')),
    createdAt: values.get('createdAt') ?? '',
    updatedAt: values.get('updatedAt') ?? '',
  };
}

function toChunk(row: Row): StoredChunk {
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

function toDocument(row: Row): DocumentRecord {
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

function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
