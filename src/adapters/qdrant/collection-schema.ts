import type { QdrantClient, Schemas } from '@qdrant/js-client-rest';
import * as z from 'zod';
import type { CollectionIdentity } from '../../domain/collection-identity.ts';
import { advice, settingName, viaCommand } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { WORD_DIMENSIONS } from '../../ports/embedder.ts';
import type { QdrantConnection } from './qdrant-connection.ts';
import { errorText, isApiError } from './qdrant-error.ts';
import { DENSE_VECTOR, PATH_VECTOR, TERMS_VECTOR, WORDS_VECTOR } from './qdrant-points.ts';

/**
 * A collection is stored as two on the server: `<name>` has a point per chunk, `<name>__documents` a record per
 * document. Documents without chunks exist, and listing documents must not read every chunk.
 */
export const DOCUMENTS_SUFFIX = '__documents';

/** Raised when collections of an earlier version can no longer be read. */
const FORMAT = 2;

const metadataSchema = z.object({
  createdBy: z.literal('citeloop'),
  /** Version 0.3 and earlier did not write it. */
  format: z.number().default(1),
  embedder: z.string().default(''),
  dimensions: z.number().default(0),
  createdAt: z.string().default(''),
  description: z.string().nullish(),
});

export type CollectionMetadata = z.infer<typeof metadataSchema>;

export interface QdrantStorageOptions {
  /** More than one is only useful on a cluster. */
  shardNumber?: number | undefined;
  /** The number of nodes that keep a copy of each shard. */
  replicationFactor?: number | undefined;
  /** `int8` keeps only the graph and vectors of a quarter of their size in memory; everything else is on disk. */
  quantization?: 'none' | 'int8' | undefined;
}

type IndexSchema = Schemas['PayloadSchemaParams'];

const KEYWORD: IndexSchema = { type: 'keyword' };

const CHUNK_INDEXES: Record<string, IndexSchema> = {
  chunkId: KEYWORD,
  contentHash: KEYWORD,
  version: KEYWORD,
  url: KEYWORD,
  uri: KEYWORD,
  module: KEYWORD,
  facets: KEYWORD,
  terms: { type: 'integer', lookup: true, range: false },
};

const DOCUMENT_INDEXES: Record<string, IndexSchema> = { uri: KEYWORD, url: KEYWORD };

/**
 * Word vectors only rerank hits: they have no graph and stay on disk. Half precision holds their bytes exactly; the
 * server's `uint8` has no negative numbers.
 */
const WORD_VECTORS: Schemas['VectorParams'] = {
  size: WORD_DIMENSIONS,
  distance: 'Dot',
  datatype: 'float16',
  multivector_config: { comparator: 'max_sim' },
  hnsw_config: { m: 0 },
  on_disk: true,
};

/** Creates the missing ones of the two. Another process may do the same at the same time. */
export async function createQdrantCollections(
  connection: QdrantConnection,
  chunks: string,
  { embedder, dimensions, createdAt }: CollectionIdentity & { createdAt: string },
  { shardNumber, replicationFactor, quantization }: QdrantStorageOptions,
): Promise<void> {
  const documents = `${chunks}${DOCUMENTS_SUFFIX}`;
  const onDisk = quantization === 'int8';
  const common = {
    metadata: { createdBy: 'citeloop', format: FORMAT, embedder, dimensions, createdAt },
    ...(replicationFactor !== undefined && { replication_factor: replicationFactor }),
  };
  await create(connection, chunks, {
    vectors: {
      [DENSE_VECTOR]: {
        size: dimensions,
        distance: 'Cosine',
        on_disk: onDisk,
        ...(onDisk && { quantization_config: { scalar: { type: 'int8', always_ram: true } } }),
      },
      [WORDS_VECTOR]: WORD_VECTORS,
      [PATH_VECTOR]: WORD_VECTORS,
    },
    // Graph links per payload value would be built for every term; filtered searches use ACORN instead.
    hnsw_config: { payload_m: 0 },
    // No `idf` modifier: the server counts per shard and does not return the weights that scores are divided by.
    sparse_vectors: { [TERMS_VECTOR]: { index: { on_disk: onDisk } } },
    ...common,
    ...(shardNumber !== undefined && { shard_number: shardNumber }),
  });
  await create(connection, documents, { vectors: {}, shard_number: 1, ...common });
  await Promise.all([
    createIndexes(connection, chunks, CHUNK_INDEXES, onDisk),
    createIndexes(connection, documents, DOCUMENT_INDEXES, onDisk),
  ]);
}

async function create(
  connection: QdrantConnection,
  collection: string,
  config: Parameters<QdrantClient['createCollection']>[1],
): Promise<void> {
  await connection.call(null, (client) =>
    client.createCollection(collection, config).catch((error: unknown) => {
      if (!isApiError(error) || (error.status !== 409 && !/already exists/i.test(errorText(error))))
        throw error;
    }),
  );
}

async function createIndexes(
  connection: QdrantConnection,
  collection: string,
  indexes: Record<string, IndexSchema>,
  onDisk: boolean,
): Promise<void> {
  for (const [field_name, index] of Object.entries(indexes)) {
    const field_schema = { ...index, on_disk: onDisk };
    await connection.call(collection, (client) =>
      client.createPayloadIndex(collection, { field_name, field_schema, wait: true }),
    );
  }
}

/** False if creating the collection was interrupted. */
export function hasAllIndexes({ payload_schema: indexes }: Schemas['CollectionInfo']): boolean {
  return Object.keys(CHUNK_INDEXES).every((field) => field in indexes);
}

/** False for collections of version 0.3 and earlier: vectors cannot be added to a collection. */
export function hasWordVectors({ config }: Schemas['CollectionInfo']): boolean {
  return WORDS_VECTOR in (config.params.vectors ?? {});
}

/** Null if the server has no such collection. */
export function describeQdrantCollection(
  connection: QdrantConnection,
  collection: string,
): Promise<Schemas['CollectionInfo'] | null> {
  return connection.call(collection, (client) =>
    client.getCollection(collection).catch((error: unknown) => {
      if (isApiError(error) && error.status === 404) return null;
      throw error;
    }),
  );
}

export function deleteQdrantCollection(connection: QdrantConnection, collection: string): Promise<boolean> {
  return connection.call(collection, (client) => client.deleteCollection(collection));
}

/** Null if citeloop did not create the collection. Throws `configuration_error` if its format cannot be read. */
export function parseCollectionMetadata(
  name: string,
  info: Schemas['CollectionInfo'],
): CollectionMetadata | null {
  const { data } = metadataSchema.safeParse(info.config.metadata);
  if (data === undefined) return null;
  if (data.format === FORMAT) return data;
  const isNewer = data.format > FORMAT;
  throw new AppError(
    'configuration_error',
    `Collection "${name}" was written by ${isNewer ? 'a newer' : 'an older'} version of citeloop.`,
    {
      hint: isNewer
        ? advice`Update citeloop, or choose another ${settingName('collection')}.`
        : advice`Remove it${viaCommand(`collections delete ${name}`)} and ingest again.`,
    },
  );
}

export function readOnlyCollectionError(name: string): AppError {
  return new AppError(
    'configuration_error',
    `Collection "${name}" was not created by citeloop, so it can be searched but not changed.`,
    { hint: advice`Ingest into another ${settingName('collection')}.` },
  );
}
