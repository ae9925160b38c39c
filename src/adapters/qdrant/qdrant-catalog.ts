import type { Schemas } from '@qdrant/js-client-rest';
import { assertSameEmbedder, type CollectionIdentity } from '../../domain/collection-identity.ts';
import type { ChunkStore, CollectionCatalog } from '../../ports/chunk-store.ts';
import { createCollectionHead, gone, type WriterRuntime } from './collection-head.ts';
import {
  createCollections,
  DOCUMENTS_SUFFIX,
  describeCollection,
  dropCollection,
  isOurs,
  readOnly,
  type StorageOptions,
} from './collection-schema.ts';
import { type ConnectionOptions, createConnection } from './connection.ts';
import { createForeignChunkStore } from './foreign-chunk-store.ts';
import type { PayloadMap } from './foreign-payload.ts';
import { createQdrantChunkStore } from './qdrant-chunk-store.ts';

export interface QdrantCatalogOptions extends ConnectionOptions, StorageOptions {
  /** Put before the names of collections on the server, so that several catalogs can share one. */
  collectionPrefix?: string | undefined;
  /** Where collections made by others keep what we read; the usual names are tried anyway. */
  payloadMap?: PayloadMap | undefined;
  /** The embedder that collections made by others are taken to be made with: they do not say. */
  foreignEmbedder?: string | undefined;
  /** Instead of the machine's clock, ids and name. */
  runtime?: (WriterRuntime & NonNullable<ConnectionOptions['runtime']>) | undefined;
}

/** Collections on a Qdrant server of version 1.16 or later. Nothing is asked before it is needed. */
export function createQdrantCatalog(options: QdrantCatalogOptions): CollectionCatalog {
  const { collectionPrefix = '', payloadMap = {}, foreignEmbedder = 'unknown' } = options;
  const connection = createConnection(options);

  const nameOnServer = (name: string) => `${collectionPrefix}${name}`;
  const headOf = (name: string) =>
    createCollectionHead(connection, `${nameOnServer(name)}${DOCUMENTS_SUFFIX}`, name, options.runtime);

  /** The head and what the server says of the chunks, either null if it is not there. */
  async function look(name: string) {
    const [chunks, documents] = await Promise.all([
      describeCollection(connection, nameOnServer(name)),
      describeCollection(connection, `${nameOnServer(name)}${DOCUMENTS_SUFFIX}`),
    ]);
    const head = documents === null ? null : await headOf(name).read();
    return { chunks, documents, head };
  }

  function storeOf(
    name: string,
    chunks: Schemas['CollectionInfo'],
    head: Parameters<typeof createQdrantChunkStore>[0]['head'],
  ): ChunkStore {
    return createQdrantChunkStore({
      connection,
      name,
      chunks: nameOnServer(name),
      heads: headOf(name),
      head,
      shards: chunks.config.params.shard_number ?? 1,
    });
  }

  async function create(name: string, identity: CollectionIdentity): Promise<ChunkStore> {
    const found = await look(name);
    const { chunks, documents, head } = found;
    if (chunks !== null && head !== null) return storeOf(name, chunks, head);
    if (chunks !== null && !isOurs(chunks)) throw readOnly(name);
    // One half of it: making or deleting it was interrupted. What is left says nothing of what is missing.
    if (chunks === null && documents !== null) {
      await dropCollection(connection, `${nameOnServer(name)}${DOCUMENTS_SUFFIX}`);
    }
    if (chunks !== null && documents === null && (chunks.points_count ?? 0) > 0) {
      await dropCollection(connection, nameOnServer(name));
    }
    await createCollections(connection, nameOnServer(name), identity, options);
    await headOf(name).create(identity);
    const made = await look(name);
    if (made.chunks === null || made.head === null) throw gone(name);
    return storeOf(name, made.chunks, made.head);
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

    async open(name) {
      const { chunks, head } = await look(name);
      if (chunks === null) return null;
      if (head !== null) return storeOf(name, chunks, head);
      if (isOurs(chunks)) return null;
      return createForeignChunkStore({
        connection,
        name,
        collection: nameOnServer(name),
        info: chunks,
        embedder: foreignEmbedder,
        payloadMap,
      });
    },

    async openOrCreate(name, identity) {
      const store = await create(name, identity);
      assertSameEmbedder(name, store.identity, identity);
      return store;
    },

    async delete(name) {
      const { chunks, documents } = await look(name);
      if (chunks === null && documents === null) return false;
      // Readers ask the head first, and without it the rest is known to be left over.
      if (documents !== null) await dropCollection(connection, `${nameOnServer(name)}${DOCUMENTS_SUFFIX}`);
      if (chunks !== null) await dropCollection(connection, nameOnServer(name));
      return true;
    },
  };
}
