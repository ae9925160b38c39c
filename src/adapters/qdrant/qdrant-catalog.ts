import { randomUUID } from 'node:crypto';
import { assertSameEmbedder, type CollectionIdentity } from '../../domain/collection-identity.ts';
import type { ChunkStore, CollectionCatalog } from '../../ports/chunk-store.ts';
import type { Runtime } from '../../ports/runtime.ts';
import {
  createQdrantCollections,
  DOCUMENTS_SUFFIX,
  deleteQdrantCollection,
  describeQdrantCollection,
  hasAllIndexes,
  hasWordVectors,
  parseCollectionMetadata,
  type QdrantStorageOptions,
  readOnlyCollectionError,
} from './collection-schema.ts';
import { createForeignChunkStore } from './foreign-chunk-store.ts';
import type { PayloadMap } from './foreign-payload.ts';
import { openQdrantChunkStore } from './qdrant-chunk-store.ts';
import { createQdrantConnection, type QdrantConnectionOptions } from './qdrant-connection.ts';
import { missingCollectionError } from './qdrant-error.ts';

export interface QdrantCatalogOptions extends QdrantConnectionOptions, QdrantStorageOptions {
  /** Put before collection names on the server, so that several catalogs can share it. */
  collectionPrefix?: string | undefined;
  /** The payload fields of collections that citeloop did not create; common names are tried too. */
  payloadMap?: PayloadMap | undefined;
  /** The embedder of collections that citeloop did not create, which do not name it. */
  foreignEmbedder?: string | undefined;
  /** The system's clock and random ids unless given. */
  runtime?: (Pick<Runtime, 'now' | 'newId'> & NonNullable<QdrantConnectionOptions['runtime']>) | undefined;
}

const systemDefaults: Pick<Runtime, 'now' | 'newId'> = { now: () => new Date(), newId: randomUUID };

/** Collections on a Qdrant server of version 1.16 or later. Connects on the first use. */
export function createQdrantCatalog(options: QdrantCatalogOptions): CollectionCatalog {
  const { collectionPrefix = '', payloadMap = {}, foreignEmbedder = 'unknown' } = options;
  const { runtime = systemDefaults } = options;
  const connection = createQdrantConnection(options);
  const chunksOf = (name: string) => `${collectionPrefix}${name}`;
  const documentsOf = (name: string) => `${collectionPrefix}${name}${DOCUMENTS_SUFFIX}`;

  async function describe(name: string) {
    const [chunks, documents] = await Promise.all([
      describeQdrantCollection(connection, chunksOf(name)),
      describeQdrantCollection(connection, documentsOf(name)),
    ]);
    return { chunks, documents };
  }

  async function open(name: string): Promise<ChunkStore | null> {
    const { chunks, documents } = await describe(name);
    if (chunks === null) return null;
    const metadata = parseCollectionMetadata(name, chunks);
    const target = { connection, name, collection: chunksOf(name) };
    if (metadata === null) {
      return createForeignChunkStore({ ...target, info: chunks, embedder: foreignEmbedder, payloadMap });
    }
    const shards = chunks.config.params.shard_number ?? 1;
    const hasWords = hasWordVectors(chunks);
    return documents && openQdrantChunkStore({ ...target, metadata, shards, hasWords, runtime });
  }

  async function create(name: string, identity: CollectionIdentity): Promise<void> {
    const { chunks, documents } = await describe(name);
    if (chunks !== null && parseCollectionMetadata(name, chunks) === null)
      throw readOnlyCollectionError(name);
    if (chunks !== null && documents !== null && hasAllIndexes(chunks)) return;
    // Creating or deleting it was interrupted: one without the other is of no use.
    if (chunks === null && documents !== null) await deleteQdrantCollection(connection, documentsOf(name));
    if (documents === null && chunks !== null && (chunks.points_count ?? 0) > 0) {
      await deleteQdrantCollection(connection, chunksOf(name));
    }
    const createdAt = runtime.now().toISOString();
    await createQdrantCollections(connection, chunksOf(name), { ...identity, createdAt }, options);
  }

  return {
    async list() {
      const { collections } = await connection.call(null, (client) => client.getCollections());
      return collections
        .map(({ name }) => name)
        .filter((name) => name.startsWith(collectionPrefix) && !name.endsWith(DOCUMENTS_SUFFIX))
        .map((name) => name.slice(collectionPrefix.length))
        .sort();
    },

    open,

    async openOrCreate(name, identity) {
      await create(name, identity);
      const store = await open(name);
      if (store === null) throw missingCollectionError(name, 'was deleted meanwhile');
      assertSameEmbedder(name, store.identity, identity);
      return store;
    },

    async delete(name) {
      const { chunks, documents } = await describe(name);
      // Without its records a collection counts as deleted.
      if (documents !== null) await deleteQdrantCollection(connection, documentsOf(name));
      if (chunks !== null) await deleteQdrantCollection(connection, chunksOf(name));
      return chunks !== null || documents !== null;
    },
  };
}
