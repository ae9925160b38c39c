import type { Schemas } from '@qdrant/js-client-rest';
import type {
  ChunkStore,
  ChunkVectors,
  ChunkWords,
  CollectionInfo,
  StoreHit,
} from '../../ports/chunk-store.ts';
import type { Runtime } from '../../ports/runtime.ts';
import {
  countModules,
  findPointProblems,
  readDocumentRecords,
  removeLeftoverPoints,
} from './collection-maintenance.ts';
import { type CollectionMetadata, DOCUMENTS_SUFFIX } from './collection-schema.ts';
import { createDocumentWriter } from './document-writer.ts';
import {
  countPoints,
  type PointCollection,
  readAllPoints,
  retrievePoints,
  upsertPoints,
} from './point-requests.ts';
import { ChunkCounts, createPointSearch, scorePointWords } from './point-search.ts';
import {
  CHUNK_FIELDS,
  DENSE_VECTOR,
  fromNamedVectors,
  hasVersion,
  matchAny,
  PATH_VECTOR,
  payloadToChunk,
  payloadToDocument,
  toChunkRecord,
  toPointFilter,
  toRecordId,
  WORDS_VECTOR,
  withoutVectorFilter,
} from './qdrant-points.ts';

/** Reads are repeated when a document was replaced meanwhile; after so many, the last result is used. */
const MAX_READS = 50;
const MAX_KNOWN_VERSIONS = 10_000;
/** Values in one filter condition. */
const CONDITION_VALUES = 500;
/** The point that changes with every write. */
const CHANGE_ID = '00000000-0000-0000-0000-000000000000';

interface StoreOptions extends PointCollection {
  metadata: CollectionMetadata;
  shards: number;
  /** Whether the collection can store word vectors. */
  hasWords: boolean;
  runtime: Pick<Runtime, 'now' | 'newId'>;
}

type ChunkPoint = Pick<Schemas['Record'], 'id' | 'payload' | 'vector'>;

/** Opens a collection that citeloop created. */
export async function openQdrantChunkStore(options: StoreOptions): Promise<ChunkStore> {
  const { connection, name, collection, metadata, shards, hasWords, runtime } = options;
  const { embedder, dimensions, createdAt } = metadata;
  let { description = null } = metadata;
  const chunks: PointCollection = { connection, name, collection };
  const documents: PointCollection = { connection, name, collection: `${collection}${DOCUMENTS_SUFFIX}` };
  const writer = createDocumentWriter(chunks, documents, { dimensions, hasWords, now: runtime.now });
  const counts = new ChunkCounts(chunks, (await readChange()).changeId);
  const rankPoints = createPointSearch({ chunks, counts, dimensions, shards });
  const wordNames = hasWords ? [WORDS_VECTOR, PATH_VECTOR] : [];
  const vectorNames = [DENSE_VECTOR, ...wordNames];
  /** The version that each record had when it was last read. */
  let knownVersions = new Map<string, string | undefined>();
  let cachedInfo: { changeId: string; info: CollectionInfo } | undefined;

  async function readChange(): Promise<{ changeId: string; updatedAt: string }> {
    const [point] = await retrievePoints(documents, [CHANGE_ID]);
    const { changeId = '', updatedAt = createdAt } = point?.payload ?? {};
    return { changeId: String(changeId), updatedAt: String(updatedAt) };
  }

  async function markChanged(): Promise<void> {
    const payload = { changeId: runtime.newId(), updatedAt: runtime.now().toISOString() };
    await upsertPoints(documents, [{ id: CHANGE_ID, vector: {}, payload }]);
    counts.update(payload.changeId);
  }

  /**
   * Keeps the points that belong to the current version of their document. `isConsistent` is false if a document may
   * have been replaced while the points were read: a record is written after the chunks it names and before the
   * previous ones are deleted, so a read between two equal versions of a record has seen all chunks of that version.
   */
  async function selectCurrent<T extends { id: unknown }>(points: readonly T[]) {
    const recordIds = new Set(points.map(({ id }) => toRecordId(String(id))));
    const records = await retrievePoints(documents, [CHANGE_ID, ...recordIds], ['version', 'changeId']);
    const versions = new Map(records.map(({ id, payload }) => [String(id), payload?.version as string]));
    const changeId = String(records.find(({ id }) => id === CHANGE_ID)?.payload?.changeId ?? '');
    let isConsistent = true;
    const current = points.filter(({ id }) => {
      const recordId = toRecordId(String(id));
      if (hasVersion(String(id), versions.get(recordId))) return true;
      isConsistent &&= knownVersions.has(recordId) && knownVersions.get(recordId) === versions.get(recordId);
      return false;
    });
    if (knownVersions.size > MAX_KNOWN_VERSIONS) knownVersions = new Map();
    for (const recordId of recordIds) knownVersions.set(recordId, versions.get(recordId));
    return { current, isConsistent, changeId };
  }

  async function readCurrent(read: () => Promise<ChunkPoint[]>): Promise<ChunkPoint[]> {
    for (let reads = 1; ; reads += 1) {
      const { current, isConsistent } = await selectCurrent(await read());
      if (isConsistent || reads === MAX_READS) return current;
    }
  }

  /** The chunks that have one of the values in a field, of all versions. */
  async function chunksWith(key: string, values: readonly string[], fields: string[], vectors?: string[]) {
    const unique = [...new Set(values)];
    const found: Schemas['Record'][] = [];
    for (let start = 0; start < unique.length; start += CONDITION_VALUES) {
      const filter = { must: [matchAny(key, unique.slice(start, start + CONDITION_VALUES))] };
      found.push(...(await readAllPoints(chunks, { filter, fields, ...(vectors && { vectors }) })));
    }
    return found;
  }

  async function readChunks(points: readonly { id: unknown }[], into: Map<string, StoreHit['chunk']>) {
    const missing = points.map(({ id }) => String(id)).filter((id) => !into.has(id));
    for (const { id, payload } of await retrievePoints(chunks, missing, CHUNK_FIELDS)) {
      into.set(String(id), payloadToChunk(payload));
    }
  }

  return {
    name,
    identity: { embedder, dimensions },

    async info() {
      const { changeId, updatedAt } = await readChange();
      if (cachedInfo?.changeId === changeId) return { ...cachedInfo.info, description };
      counts.update(changeId);
      const [records, unembedded] = await Promise.all([
        readDocumentRecords(documents),
        counts.withoutVector(),
      ]);
      const info = {
        name,
        embedder,
        dimensions,
        documents: records.length,
        chunks: records.reduce((sum, record) => sum + record.chunks, 0),
        withoutVector: unembedded,
        // Plus the collection's own metadata, so that an empty one is not 0 bytes.
        bytes: records.reduce((sum, { bytes }) => sum + bytes, JSON.stringify(metadata).length),
        createdAt,
        updatedAt,
        description,
        modules: countModules(records),
      };
      cachedInfo = { changeId, info };
      return info;
    },

    async describe(given) {
      await connection.call(collection, (client) =>
        client.updateCollection(collection, { metadata: { description: given } }),
      );
      description = given;
    },

    async *documents() {
      const records = await readDocumentRecords(documents);
      yield* records.map(payloadToDocument).sort((a, b) => (a.uri < b.uri ? -1 : 1));
    },

    async read(uris) {
      for (let reads = 1; uris.length > 0; reads += 1) {
        const records = await readDocumentRecords(documents, matchAny('uri', uris));
        const versions = records.map(({ version }) => version);
        const points = await chunksWith(
          'version',
          versions,
          [...CHUNK_FIELDS, 'start', 'version'],
          vectorNames,
        );
        const byVersion = Map.groupBy(points, ({ payload }) => String(payload?.version));
        const isComplete = records.every(
          ({ version, chunks: count }) => count === (byVersion.get(version)?.length ?? 0),
        );
        if (!isComplete && reads < MAX_READS) continue;
        const found = new Map(records.map((record) => [record.uri, record]));
        return [...new Set(uris)].flatMap((uri) => {
          const record = found.get(uri);
          if (record === undefined) return [];
          const own = (byVersion.get(record.version) ?? []).map(toChunkRecord);
          return [
            { document: payloadToDocument(record), chunks: own.sort((a, b) => a.chunkIndex - b.chunkIndex) },
          ];
        });
      }
      return [];
    },

    async vectors(contentHashes) {
      const points = await chunksWith('contentHash', contentHashes, ['contentHash'], vectorNames);
      return new Map(
        points.flatMap(({ payload, vector }): [string, ChunkVectors][] => {
          const { vector: dense, words } = fromNamedVectors(vector);
          return dense === null ? [] : [[String(payload?.contentHash), { vector: dense, words }]];
        }),
      );
    },

    async wordVectors(chunkIds) {
      if (!hasWords) return new Map();
      const points = await readCurrent(() => chunksWith('chunkId', chunkIds, ['chunkId'], wordNames));
      return new Map(
        points.flatMap(({ payload, vector }): [string, ChunkWords][] => {
          const { words } = fromNamedVectors(vector);
          return words === null ? [] : [[String(payload?.chunkId), words]];
        }),
      );
    },

    scoreWords: async (query, chunkIds) => (hasWords ? scorePointWords(chunks, query, chunkIds) : new Map()),

    async unembedded({ words } = { words: false }) {
      const fields = ['chunkId', 'contentHash', 'tokenCount', 'uri', 'chunkIndex'];
      const missing = words && hasWords ? vectorNames : [DENSE_VECTOR];
      const filter = { should: missing.map((vector) => withoutVectorFilter(vector)) };
      const points = await readAllPoints(chunks, { filter, fields });
      const order = ({ payload }: ChunkPoint) =>
        `${payload?.uri} ${String(payload?.chunkIndex).padStart(9, '0')}`;
      return points
        .sort((a, b) => (order(a) < order(b) ? -1 : 1))
        .map(({ payload }) => ({
          chunkId: String(payload?.chunkId),
          contentHash: String(payload?.contentHash),
          tokenCount: Number(payload?.tokenCount),
        }));
    },

    withoutVector: () => counts.withoutVector(),

    async addVectors(vectors) {
      if (vectors.size === 0) return;
      await writer.addVectors(vectors);
      await markChanged();
    },

    async write(writes) {
      if (writes.length === 0) return;
      await writer.write(writes);
      await markChanged();
    },

    async remove(uris) {
      if (uris.length > 0 && (await writer.remove(uris))) await markChanged();
    },

    async search(request) {
      for (let reads = 1; ; reads += 1) {
        const ranked = await rankPoints(request);
        const top = ranked.slice(0, request.limit);
        const texts = new Map<string, StoreHit['chunk']>();
        const [{ current, isConsistent, changeId }] = await Promise.all([
          selectCurrent(top),
          readChunks(top, texts),
        ]);
        // Terms may have been counted before another process wrote; during many writes, once is enough.
        const isOutdated = reads === 1 && changeId !== counts.changeId;
        if (isOutdated) counts.update(changeId);
        if (isOutdated || (!isConsistent && reads < MAX_READS)) continue;
        const best = [...current];
        if (best.length < top.length) {
          // Later hits take the places of outdated ones.
          const rest = await selectCurrent(ranked.slice(request.limit));
          best.push(...rest.current.slice(0, top.length - best.length));
          await readChunks(best, texts);
        }
        return best.flatMap(({ id, ...scores }): StoreHit[] => {
          const chunk = texts.get(id);
          return chunk === undefined ? [] : [{ chunk, ...scores }];
        });
      }
    },

    containing: (terms) => counts.ofTerms(terms),

    async count(filter) {
      const conditions = toPointFilter(filter);
      if (conditions !== null) return countPoints(chunks, conditions);
      // Every rerank needs it, and the server takes longer the more points there are.
      counts.update((await readChange()).changeId);
      return counts.all();
    },

    async chunks(chunkIds) {
      const points = await readCurrent(() => chunksWith('chunkId', chunkIds, CHUNK_FIELDS));
      const found = new Map(points.map(({ payload }) => [String(payload?.chunkId), payloadToChunk(payload)]));
      return chunkIds.flatMap((chunkId) => found.get(chunkId) ?? []);
    },

    async neighbours(chunkId, before, after) {
      const [chunk] = await readCurrent(() => chunksWith('chunkId', [chunkId], ['version', 'chunkIndex']));
      if (chunk === undefined) return [];
      const index = Number(chunk.payload?.chunkIndex);
      const range = { gte: index - before, lte: index + after };
      const filter = {
        must: [matchAny('version', [String(chunk.payload?.version)]), { key: 'chunkIndex', range }],
      };
      const points = await readAllPoints(chunks, { filter, fields: CHUNK_FIELDS });
      return points.map(({ payload }) => payloadToChunk(payload)).sort((a, b) => a.chunkIndex - b.chunkIndex);
    },

    settle: () => removeLeftoverPoints(chunks, documents, runtime.now().getTime()),

    check: () => findPointProblems(chunks, documents),

    close: async () => undefined,
  };
}
