import type { Schemas } from '@qdrant/js-client-rest';
import { AppError } from '../../faults/app-error.ts';
import type { ChunkStore, StoreHit } from '../../ports/chunk-store.ts';
import { scrollAll } from './bulk-requests.ts';
import { type CollectionHead, gone, type Head } from './collection-head.ts';
import { DOCUMENTS_SUFFIX } from './collection-schema.ts';
import type { Connection } from './connection.ts';
import { createDocumentWriter } from './document-writer.ts';
import {
  anyOf,
  CHUNK_FIELDS,
  DENSE,
  denseVector,
  filterConditions,
  isUnchanged,
  type QdrantFilter,
  readableAt,
  toChunk,
  toDocument,
  toDocuments,
  unembeddedAt,
  visibleAt,
} from './points.ts';
import { createSearch } from './search.ts';
import { findProblems } from './upkeep.ts';

/** How often a read is begun anew because of writes that came in between. */
const MOST_READS = 50;
/** How many values one condition lists at most. */
const LISTED = 500;
const MOST_MODULES = 10_000;

interface StoreOptions {
  connection: Connection;
  name: string;
  /** What the collection is called on the server. */
  chunks: string;
  heads: CollectionHead;
  head: Head;
  shards: number;
}

/** A collection on a Qdrant server that `createCollections` made. */
export function createQdrantChunkStore(options: StoreOptions): ChunkStore {
  const { connection, name, chunks, heads, shards } = options;
  const { embedder, dimensions } = options.head;
  /** The head is among them, and has no epoch. */
  const documents = `${chunks}${DOCUMENTS_SUFFIX}`;
  const { search, containing } = createSearch({ connection, name, chunks, dimensions, shards });
  const writer = createDocumentWriter({ connection, head: heads, name, chunks, documents, dimensions });
  let known = options.head;
  /** Whether this handle has written since. */
  let hasWritten = false;
  /** Writes of this handle, one after the other. */
  let writing: Promise<unknown> = Promise.resolve();

  function inTurn(work: () => Promise<void>): Promise<void> {
    hasWritten = true;
    const done = writing.then(work);
    writing = done.catch(() => undefined);
    return done;
  }

  /**
   * Reads at one epoch. What belongs to it is there until another one is current: if it still is the current
   * one afterwards, and no write began where it was quiet before, nothing was missing and nothing too many;
   * otherwise the read is begun anew. `finish` gets what cannot have changed, only have gone, and says so by
   * giving null.
   */
  async function consistently<T, R>(
    read: (head: Head) => Promise<T>,
    finish: (found: T) => Promise<R | null> | R,
  ): Promise<R> {
    for (let attempt = 0; attempt < MOST_READS; attempt += 1) {
      const head = known;
      const found = await read(head);
      const [finished, now] = await Promise.all([finish(found), heads.read()]);
      if (now === null) throw gone(name);
      known = now;
      hasWritten = false;
      if (isUnchanged(head, now) && finished !== null) return finished;
    }
    throw new AppError('retrieval_error', `Collection "${name}" changes faster than it can be read.`, {
      hint: 'Wait until it is written, then run the same command again.',
      recoverable: true,
    });
  }

  function reading<T>(read: (head: Head) => Promise<T>): Promise<T> {
    return consistently<T, T>(read, (found) => found);
  }

  async function count(collection: string, filter: QdrantFilter | null): Promise<number> {
    const result = await connection.call(name, (client) => client.count(collection, { filter, exact: true }));
    return result.count;
  }

  async function countUnembedded({ partial = false, epoch }: Head): Promise<number> {
    return partial ? count(chunks, unembeddedAt(epoch)) : 0;
  }

  /** The chunks that have one of the values in a field. */
  async function pointsWith(
    head: Head,
    key: string,
    values: readonly string[],
    more: { fields: string[]; vector?: string },
  ): Promise<Schemas['Record'][]> {
    const found: Schemas['Record'][] = [];
    for (let start = 0; start < values.length; start += LISTED) {
      const filter = readableAt(head, [anyOf(key, values.slice(start, start + LISTED))]);
      found.push(...(await scrollAll(connection, { collection: chunks, name, filter, ...more })));
    }
    return found;
  }

  return {
    name,
    identity: { embedder, dimensions },

    info: () =>
      consistently(
        async (head) => {
          const [documentCount, chunkCount, withoutVector, modules] = await Promise.all([
            count(documents, visibleAt(head.epoch)),
            count(chunks, readableAt(head)),
            countUnembedded(head),
            connection.call(name, (client) =>
              client.facet(chunks, {
                key: 'module',
                filter: readableAt(head),
                limit: MOST_MODULES,
                exact: true,
              }),
            ),
          ]);
          return { head, documentCount, chunkCount, withoutVector, modules };
        },
        ({ head, documentCount, chunkCount, withoutVector, modules }) => ({
          name,
          embedder,
          dimensions,
          documents: documentCount,
          chunks: chunkCount,
          withoutVector,
          // With something for the collection itself, as a file has.
          bytes: head.bytes + JSON.stringify(head).length,
          createdAt: head.createdAt,
          updatedAt: head.updatedAt,
          modules: modules.hits
            .map((hit) => ({ name: String(hit.value), chunks: hit.count }))
            .sort((a, b) => (a.name < b.name ? -1 : 1)),
        }),
      ),

    async *documents() {
      const points = await reading((head) =>
        scrollAll(connection, { collection: documents, name, filter: visibleAt(head.epoch) }),
      );
      yield* points.map(({ payload }) => toDocument(payload)).sort((a, b) => (a.uri < b.uri ? -1 : 1));
    },

    async read(uris) {
      if (uris.length === 0) return [];
      const wanted = [...new Set(uris)];
      const [records, chunkPoints] = await reading((head) =>
        Promise.all([
          scrollAll(connection, {
            collection: documents,
            name,
            filter: visibleAt(head.epoch, [anyOf('uri', wanted)]),
          }),
          pointsWith(head, 'uri', wanted, { fields: [...CHUNK_FIELDS, 'start'], vector: DENSE }),
        ]),
      );
      return toDocuments(wanted, records, chunkPoints);
    },

    async vectors(contentHashes) {
      if (contentHashes.length === 0) return new Map();
      const points = await reading((head) =>
        pointsWith(head, 'contentHash', contentHashes, { fields: ['contentHash'], vector: DENSE }),
      );
      return new Map(
        points.flatMap(({ payload, vector }): [string, Float32Array][] => {
          const dense = denseVector(vector);
          return dense === null ? [] : [[String(payload?.contentHash), dense]];
        }),
      );
    },

    async unembedded() {
      const fields = ['chunkId', 'contentHash', 'tokenCount', 'uri', 'chunkIndex'];
      const points = await reading(async (head) =>
        head.partial
          ? scrollAll(connection, { collection: chunks, name, filter: unembeddedAt(head.epoch), fields })
          : [],
      );
      return points
        .map(({ payload }) => ({
          chunkId: String(payload?.chunkId),
          contentHash: String(payload?.contentHash),
          tokenCount: Number(payload?.tokenCount),
          order: `${payload?.uri} ${String(payload?.chunkIndex).padStart(9, '0')}`,
        }))
        .sort((a, b) => (a.order < b.order ? -1 : 1))
        .map(({ order: _, ...chunk }) => chunk);
    },

    // By the head that the last search has read: where nothing is missing the server is not asked.
    withoutVector: () => countUnembedded(known),

    addVectors: (vectors) => inTurn(async () => (vectors.size > 0 ? writer.addVectors(vectors) : undefined)),

    write: (writes) => inTurn(async () => (writes.length > 0 ? writer.write(writes) : undefined)),

    remove: (uris) => inTurn(async () => (uris.length > 0 ? writer.remove(uris) : undefined)),

    search: (request) =>
      consistently(
        (head) => search(request, head),
        async (ranked): Promise<StoreHit[] | null> => {
          if (ranked.length === 0) return [];
          const points = await connection.call(name, (client) =>
            client.retrieve(chunks, { ids: ranked.map(({ id }) => id), with_payload: CHUNK_FIELDS }),
          );
          const found = new Map(points.map(({ id, payload }) => [String(id), toChunk(payload)]));
          const hits = ranked.flatMap(({ id, ...scores }): StoreHit[] => {
            const chunk = found.get(id);
            return chunk === undefined ? [] : [{ chunk, ...scores }];
          });
          return hits.length === ranked.length ? hits : null;
        },
      ),

    // By what the last read saw, which saves asking: what others write meanwhile is merely not known yet.
    containing: (terms) =>
      hasWritten ? reading((head) => containing(terms, head)) : containing(terms, known),

    count: (filter) => reading((head) => count(chunks, readableAt(head, filterConditions(filter)))),

    async chunks(chunkIds) {
      if (chunkIds.length === 0) return [];
      const points = await reading((head) =>
        pointsWith(head, 'chunkId', [...new Set(chunkIds)], { fields: CHUNK_FIELDS }),
      );
      const found = new Map(points.map(({ payload }) => [String(payload?.chunkId), toChunk(payload)]));
      return chunkIds.flatMap((chunkId) => found.get(chunkId) ?? []);
    },

    async withContent(contentHashes) {
      if (contentHashes.length === 0) return [];
      const points = await reading((head) =>
        pointsWith(head, 'contentHash', [...new Set(contentHashes)], { fields: CHUNK_FIELDS }),
      );
      return points
        .map(({ payload }) => toChunk(payload))
        .sort((a, b) => (a.url === b.url ? a.chunkIndex - b.chunkIndex : a.url < b.url ? -1 : 1));
    },

    neighbours: (chunkId, before, after) =>
      reading(async (head) => {
        const [at] = await pointsWith(head, 'chunkId', [chunkId], { fields: ['uri', 'chunkIndex'] });
        if (at === undefined) return [];
        const index = Number(at.payload?.chunkIndex);
        const filter = readableAt(head, [
          anyOf('uri', [String(at.payload?.uri)]),
          { key: 'chunkIndex', range: { gte: index - before, lte: index + after } },
        ]);
        const points = await scrollAll(connection, {
          collection: chunks,
          name,
          filter,
          fields: CHUNK_FIELDS,
        });
        return points.map(({ payload }) => toChunk(payload)).sort((a, b) => a.chunkIndex - b.chunkIndex);
      }),

    settle: () => inTurn(() => writer.tidy()),

    check: () => reading((head) => findProblems({ connection, name, chunks, documents, head })),

    close: async () => {
      await writing;
    },
  };
}
