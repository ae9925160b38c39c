import { createHash } from 'node:crypto';
import type { Schemas } from '@qdrant/js-client-rest';
import { wrongDimensions } from '../../domain/collection-identity.ts';
import { chunkId } from '../../domain/document.ts';
import type { Filter } from '../../domain/query.ts';
import { fusedScore, similarity } from '../../domain/rank-hits.ts';
import { advice, setting, settingOf } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import type { ChunkStore, DocumentRecord, DocumentWrite, StoredChunk } from '../../ports/chunk-store.ts';
import { type ScrollOptions, scrollAll } from './bulk-requests.ts';
import { readOnly } from './collection-schema.ts';
import type { Connection } from './connection.ts';
import {
  createPayloadReader,
  foreignVector,
  MAPPED_FIELDS,
  type MappedField,
  type Payload,
  type PayloadMap,
  type PayloadReader,
  toSimilarity,
  unitVector,
} from './foreign-payload.ts';
import { anyOf, type Condition, type QdrantFilter } from './points.ts';

/** From how many points it is seen what the payload fields are called. */
const SAMPLES = 20;
const ANY_UUID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;
const DENSE_ONLY = { lexical: false, dense: true };

interface ForeignOptions {
  connection: Connection;
  name: string;
  /** What it is called on the server. */
  collection: string;
  info: Schemas['CollectionInfo'];
  embedder: string;
  payloadMap: PayloadMap;
}

/**
 * A collection that others have made: searched by its vectors, read as far as its payload can be mapped,
 * never written to. Throws `configuration_error` if no field of it can be taken for the text.
 */
export async function createForeignChunkStore(options: ForeignOptions): Promise<ChunkStore> {
  const { connection, name, collection, info, embedder, payloadMap } = options;
  const vector = foreignVector(name, info);
  const identity = { embedder, dimensions: vector.size };
  const { points: samples } = await connection.call(name, (client) =>
    client.scroll(collection, { limit: SAMPLES, with_payload: true }),
  );
  const payloads = samples.map(({ payload }) => (payload ?? {}) as Payload);
  const reader = createPayloadReader(payloadMap, payloads);
  if (payloads.length > 0 && reader.nameOf('text') === undefined) throw noText(name, payloads);

  const chunkOf = ({ id, payload }: Pick<Schemas['Record'], 'id' | 'payload'>): StoredChunk =>
    reader.toChunk(id as string | number, (payload ?? {}) as Payload);

  async function count(filter: QdrantFilter): Promise<number> {
    const result = await connection.call(name, (client) => client.count(collection, { filter, exact: true }));
    return result.count;
  }

  async function chunksById(chunkIds: readonly string[]): Promise<Map<string, StoredChunk>> {
    const ids = [...new Set(chunkIds)].flatMap((id) => pointIdOf(id) ?? []);
    if (ids.length === 0) return new Map();
    const points = await connection.call(name, (client) =>
      client.retrieve(collection, { ids, with_payload: true }),
    );
    return new Map(points.map((point) => [String(point.id), chunkOf(point)]));
  }

  /** The points by the document they belong to, those of each in reading order. */
  async function byDocument(options: Pick<ScrollOptions, 'filter' | 'vector'> = {}) {
    const points = await scrollAll(connection, { collection, name, ...options });
    const read = points.map((point) => ({ chunk: chunkOf(point), vector: point.vector }));
    read.sort(
      ({ chunk: a }, { chunk: b }) => a.chunkIndex - b.chunkIndex || (a.chunkId < b.chunkId ? -1 : 1),
    );
    return Map.groupBy(read, ({ chunk }) => chunk.url);
  }

  /** Points without an address are known by `qdrant:` and their id. */
  function atUrl(urls: readonly string[]): Condition {
    const field = reader.nameOf('url');
    if (field !== undefined) return anyOf(field, urls);
    return { has_id: urls.flatMap((url) => pointIdOf(url.replace(/^qdrant:/, '')) ?? []) };
  }

  return {
    name,
    identity,

    async info() {
      const modules = new Map<string, number>();
      const urls = new Set<string>();
      const all = (await scrollAll(connection, { collection, name })).map(chunkOf);
      for (const { url, module } of all) {
        urls.add(url);
        if (module !== null) modules.set(module, (modules.get(module) ?? 0) + 1);
      }
      const text = all.reduce((sum, chunk) => sum + Buffer.byteLength(chunk.text), 0);
      return {
        ...identity,
        name,
        documents: urls.size,
        chunks: all.length,
        withoutVector: 0,
        bytes: text + all.length * vector.size * 4,
        createdAt: UNKNOWN_TIME,
        updatedAt: UNKNOWN_TIME,
        modules: Array.from(modules, ([module, chunks]) => ({ name: module, chunks })).sort((a, b) =>
          a.name < b.name ? -1 : 1,
        ),
      };
    },

    async *documents() {
      const found = await byDocument();
      for (const url of [...found.keys()].sort()) {
        yield documentOf((found.get(url) ?? []).map(({ chunk }) => chunk));
      }
    },

    async read(uris) {
      if (uris.length === 0) return [];
      const found = await byDocument({ filter: { must: [atUrl(uris)] }, vector: vector.name ?? true });
      return uris.flatMap((uri): DocumentWrite[] => {
        const own = found.get(uri) ?? [];
        if (own.length === 0) return [];
        const document = documentOf(own.map(({ chunk }) => chunk));
        // Some collections do not number their chunks: the order they come in is as good as any.
        const chunks = own.map(({ chunk, vector: held }, chunkIndex) => ({
          ...chunk,
          chunkIndex,
          chunkId: chunkId(uri, chunkIndex),
          start: 0,
          vector: unitVector(held, vector),
        }));
        return [{ document, chunks }];
      });
    },

    // It does not say what its vectors were made of.
    vectors: async () => new Map(),

    unembedded: async () => [],
    withoutVector: async () => 0,

    async addVectors(vectors) {
      if (vectors.size > 0) throw readOnly(name);
    },

    async write(writes) {
      if (writes.length > 0) throw readOnly(name);
    },

    async remove(uris) {
      if (uris.length > 0) throw readOnly(name);
    },

    async search(request) {
      if (request.vector === null) throw meaningOnly(name);
      if (request.vector.length !== vector.size) throw wrongDimensions(request.vector.length, vector.size);
      const query = Array.from(request.vector);
      const { points } = await connection.call(name, (client) =>
        client.query(collection, {
          query,
          ...(vector.name !== null && { using: vector.name }),
          filter: toFilter(request.filter, reader),
          limit: request.limit,
          with_payload: true,
        }),
      );
      return points.map((point, index) => {
        const dense = { rank: index + 1, score: toSimilarity(point.score, vector) };
        const found = { lexical: null, dense };
        return {
          chunk: chunkOf(point),
          ...found,
          score: similarity(found, DENSE_ONLY),
          fusedScore: fusedScore(found, DENSE_ONLY),
        };
      });
    },

    count: (filter) => count(toFilter(filter, reader)),

    async chunks(chunkIds) {
      const found = await chunksById(chunkIds);
      return chunkIds.flatMap((chunkId) => found.get(chunkId) ?? []);
    },

    // Its hashes are made as it is read.
    withContent: async () => [],

    async neighbours(chunkId, before, after) {
      const chunk = (await chunksById([chunkId])).get(chunkId);
      if (chunk === undefined) return [];
      const [url, chunkIndex] = [reader.nameOf('url'), reader.nameOf('chunkIndex')];
      if (url === undefined || chunkIndex === undefined) return [chunk];
      const range = { gte: chunk.chunkIndex - before, lte: chunk.chunkIndex + after };
      const filter = { must: [anyOf(url, [chunk.url]), { key: chunkIndex, range }] };
      const points = await scrollAll(connection, { collection, name, filter });
      return points.map(chunkOf).sort((a, b) => a.chunkIndex - b.chunkIndex);
    },

    settle: async () => undefined,

    check: async () =>
      info.status === 'red' ? [`The server says that something is wrong with ${collection}.`] : [],

    close: async () => undefined,
  };
}

/** A document as far as its chunks tell of it. */
function documentOf(chunks: readonly StoredChunk[]): DocumentRecord {
  const { url, title, module, chapter } = chunks[0] as StoredChunk;
  const contentHash = createHash('sha256');
  for (const chunk of chunks) contentHash.update(chunk.contentHash);
  const place = { uri: url, url, root: url, title, module, chapter };
  return { ...place, metadata: {}, contentHash: contentHash.digest('hex'), fingerprint: 'foreign' };
}

/** Nobody has noted when it was made. */
const UNKNOWN_TIME = new Date(0).toISOString();

function toFilter(filter: Filter, reader: PayloadReader): QdrantFilter {
  const isMapped = (key: string): key is MappedField => (MAPPED_FIELDS as readonly string[]).includes(key);
  return {
    must: Object.entries(filter).map(([key, values]) => {
      const field = key === 'uri' ? 'url' : key;
      return anyOf((isMapped(field) ? reader.nameOf(field) : undefined) ?? field, values);
    }),
  };
}

/** The id as the server takes it: a number or a UUID; undefined if it is neither. */
function pointIdOf(chunkId: string): string | number | undefined {
  if (ANY_UUID.test(chunkId)) return chunkId;
  return /^\d+$/.test(chunkId) && Number.isSafeInteger(Number(chunkId)) ? Number(chunkId) : undefined;
}

function noText(name: string, payloads: readonly Payload[]): AppError {
  const fields = [...new Set(payloads.flatMap((payload) => Object.keys(payload)))].slice(0, 12);
  const text = `text=${fields[0]}`;
  return new AppError(
    'configuration_error',
    `Collection "${name}" was not made by citeloop, and none of its fields is known to hold the text.`,
    {
      hint:
        fields.length === 0
          ? advice`Its points have no payload; choose another ${setting('collection')}.`
          : advice`Name it, for example ${settingOf('payloadMap', text, `as payloadMap ${text}`)}; it has: ${fields.join(', ')}.`,
    },
  );
}

function meaningOnly(name: string): AppError {
  return new AppError(
    'configuration_error',
    `Collection "${name}" was not made by citeloop, so it can only be searched by meaning, not by words.`,
    {
      hint: advice`Search it with ${settingOf('mode', 'hybrid', 'the mode hybrid')} or ${settingOf('mode', 'dense', 'dense')}.`,
    },
  );
}
