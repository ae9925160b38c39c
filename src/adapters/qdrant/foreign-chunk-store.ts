import { createHash } from 'node:crypto';
import type { Schemas } from '@qdrant/js-client-rest';
import { wrongDimensionsError } from '../../domain/collection-identity.ts';
import { createChunkId } from '../../domain/document.ts';
import type { Filter } from '../../domain/query.ts';
import { fusedScore, matchSimilarity } from '../../domain/rank-hits.ts';
import { advice, settingName, settingValue } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import type { ChunkStore, DocumentRecord, DocumentWrite, StoredChunk } from '../../ports/chunk-store.ts';
import { countModules } from './collection-maintenance.ts';
import { readOnlyCollectionError } from './collection-schema.ts';
import {
  createPayloadReader,
  distanceToSimilarity,
  findDenseVector,
  type PayloadMap,
  type PointPayload,
  toUnitVector,
} from './foreign-payload.ts';
import { countPoints, type PointCollection, readAllPoints, retrievePoints } from './point-requests.ts';
import { matchAny, type QdrantCondition, type QdrantFilter } from './qdrant-points.ts';

/** Points that are read to find the payload fields. */
const SAMPLE_POINTS = 20;
const ANY_UUID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;
const DENSE_ONLY = { lexical: false, dense: true };
const UNKNOWN_TIME = new Date(0).toISOString();

interface ForeignOptions extends PointCollection {
  info: Schemas['CollectionInfo'];
  embedder: string;
  payloadMap: PayloadMap;
}

/**
 * A read-only collection that another program created: searched by its vectors, read as far as its payload can be
 * mapped. Throws `configuration_error` if no payload field holds the text.
 */
export async function createForeignChunkStore(options: ForeignOptions): Promise<ChunkStore> {
  const { connection, name, collection, info, embedder, payloadMap } = options;
  const vector = findDenseVector(name, info);
  const identity = { embedder, dimensions: vector.size };
  const points: PointCollection = { connection, collection, name };
  const { points: samples } = await connection.call(name, (client) =>
    client.scroll(collection, { limit: SAMPLE_POINTS, with_payload: true }),
  );
  const payloads = samples.map(({ payload }) => (payload ?? {}) as PointPayload);
  const { toChunk, sourceField } = createPayloadReader(payloadMap, payloads);
  if (payloads.length > 0 && sourceField('text') === undefined) throw unknownTextFieldError(name, payloads);

  async function chunksById(chunkIds: readonly string[]): Promise<Map<string, StoredChunk>> {
    const ids = [...new Set(chunkIds)].flatMap((id) => toPointId(id) ?? []);
    const found = await retrievePoints(points, ids);
    return new Map(found.map((point) => [String(point.id), toChunk(point)]));
  }

  /** The chunks of each document by its URL, in reading order. */
  async function readByUrl(options: Parameters<typeof readAllPoints>[1] = {}) {
    const found = await readAllPoints(points, options);
    const read = found.map((point) => ({ chunk: toChunk(point), vector: point.vector }));
    read.sort(
      ({ chunk: a }, { chunk: b }) => a.chunkIndex - b.chunkIndex || (a.chunkId < b.chunkId ? -1 : 1),
    );
    return Map.groupBy(read, ({ chunk }) => chunk.url);
  }

  /** Points without an address have the URL `qdrant:<id>`. */
  function hasUrl(urls: readonly string[]): QdrantCondition {
    const field = sourceField('url');
    if (field !== undefined) return matchAny(field, urls);
    return { has_id: urls.flatMap((url) => toPointId(url.replace(/^qdrant:/, '')) ?? []) };
  }

  const toQdrantFilter = (filter: Filter): QdrantFilter => ({
    must: Object.entries(filter).map(([key, values]) => {
      const field = key === 'uri' ? 'url' : key;
      return matchAny(sourceField(field) ?? field, values);
    }),
  });

  const refuse = async ({ length = 0, size = length }: { length?: number; size?: number }) => {
    if (size > 0) throw readOnlyCollectionError(name);
  };

  return {
    name,
    identity,

    async info() {
      const all = (await readAllPoints(points)).map(toChunk);
      const textBytes = all.reduce((sum, chunk) => sum + Buffer.byteLength(chunk.text), 0);
      return {
        ...identity,
        name,
        documents: new Set(all.map(({ url }) => url)).size,
        chunks: all.length,
        withoutVector: 0,
        bytes: textBytes + all.length * vector.size * 4,
        createdAt: UNKNOWN_TIME,
        updatedAt: UNKNOWN_TIME,
        modules: countModules(all.map(({ module }) => ({ module, chunks: 1 }))),
      };
    },

    async *documents() {
      const found = await readByUrl();
      for (const url of [...found.keys()].sort()) {
        yield toDocument((found.get(url) ?? []).map(({ chunk }) => chunk));
      }
    },

    async read(uris) {
      if (uris.length === 0) return [];
      const found = await readByUrl({
        filter: { must: [hasUrl(uris)] },
        vectors: vector.name === null || [vector.name],
      });
      return uris.flatMap((uri): DocumentWrite[] => {
        const own = found.get(uri) ?? [];
        if (own.length === 0) return [];
        // Numbered anew: some collections do not number their chunks.
        const chunks = own.map(({ chunk, vector: stored }, chunkIndex) => ({
          ...chunk,
          chunkIndex,
          chunkId: createChunkId(uri, chunkIndex),
          start: 0,
          vector: toUnitVector(stored, vector),
          words: null,
        }));
        return [{ document: toDocument(own.map(({ chunk }) => chunk)), chunks }];
      });
    },

    // Content hashes are computed on reading, so nothing can be looked up by them.
    vectors: async () => new Map(),
    wordVectors: async () => new Map(),

    unembedded: async () => [],
    withoutVector: async () => 0,

    addVectors: refuse,
    write: refuse,
    remove: refuse,

    async search(request) {
      if (request.vector === null) throw denseOnlyError(name);
      if (request.vector.length !== vector.size)
        throw wrongDimensionsError(request.vector.length, vector.size);
      const query = Array.from(request.vector);
      const { points: found } = await connection.call(name, (client) =>
        client.query(collection, {
          query,
          ...(vector.name !== null && { using: vector.name }),
          filter: toQdrantFilter(request.filter),
          limit: request.limit,
          with_payload: true,
        }),
      );
      return found.map((point, index) => {
        const dense = { rank: index + 1, score: distanceToSimilarity(point.score, vector) };
        const scores = { lexical: null, dense };
        return {
          chunk: toChunk(point),
          ...scores,
          score: matchSimilarity(scores, DENSE_ONLY),
          fusedScore: fusedScore(scores, DENSE_ONLY),
        };
      });
    },

    count: (filter) => countPoints(points, toQdrantFilter(filter)),

    async chunks(chunkIds) {
      const found = await chunksById(chunkIds);
      return chunkIds.flatMap((chunkId) => found.get(chunkId) ?? []);
    },

    async neighbours(chunkId, before, after) {
      const chunk = (await chunksById([chunkId])).get(chunkId);
      if (chunk === undefined) return [];
      const [url, chunkIndex] = [sourceField('url'), sourceField('chunkIndex')];
      if (url === undefined || chunkIndex === undefined) return [chunk];
      const range = { gte: chunk.chunkIndex - before, lte: chunk.chunkIndex + after };
      const filter = { must: [matchAny(url, [chunk.url]), { key: chunkIndex, range }] };
      const found = await readAllPoints(points, { filter });
      return found.map(toChunk).sort((a, b) => a.chunkIndex - b.chunkIndex);
    },

    settle: async () => undefined,

    check: async () => (info.status === 'red' ? [`The server reports an error in ${collection}.`] : []),

    close: async () => undefined,
  };
}

function toDocument(chunks: readonly StoredChunk[]): DocumentRecord {
  const { url, title, module, chapter } = chunks[0] as StoredChunk;
  const contentHash = createHash('sha256');
  for (const chunk of chunks) contentHash.update(chunk.contentHash);
  const place = { uri: url, url, root: url, title, module, chapter };
  return { ...place, metadata: {}, contentHash: contentHash.digest('hex'), fingerprint: 'foreign' };
}

/** The id as the server expects it: a number or a UUID; undefined if it is neither. */
function toPointId(chunkId: string): string | number | undefined {
  if (ANY_UUID.test(chunkId)) return chunkId;
  return /^\d+$/.test(chunkId) && Number.isSafeInteger(Number(chunkId)) ? Number(chunkId) : undefined;
}

function unknownTextFieldError(name: string, payloads: readonly PointPayload[]): AppError {
  const fields = [...new Set(payloads.flatMap((payload) => Object.keys(payload)))].slice(0, 12);
  const text = `text=${fields[0]}`;
  return new AppError(
    'configuration_error',
    `Collection "${name}" was not created by citeloop, and the payload field with the text is not known.`,
    {
      hint:
        fields.length === 0
          ? advice`Its points have no payload; choose another ${settingName('collection')}.`
          : advice`Name the field, for example ${settingValue('payloadMap', text, `as payloadMap ${text}`)}. The points have: ${fields.join(', ')}.`,
    },
  );
}

function denseOnlyError(name: string): AppError {
  return new AppError(
    'configuration_error',
    `Collection "${name}" was not created by citeloop, so it has no text index.`,
    {
      hint: advice`Search it with ${settingValue('mode', 'hybrid', 'the mode hybrid')} or ${settingValue('mode', 'dense', 'dense')}.`,
    },
  );
}
