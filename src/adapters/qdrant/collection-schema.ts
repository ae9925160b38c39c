import type { QdrantClient, Schemas } from '@qdrant/js-client-rest';
import type { CollectionIdentity } from '../../domain/collection-identity.ts';
import { advice, setting } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import type { Connection } from './connection.ts';
import { DENSE, TERMS } from './points.ts';

/**
 * A collection is two on the server. `<name>` has a point for each chunk, `<name>__documents` one for each
 * document and the head: documents without chunks exist too, and listing them must not read every chunk.
 */
export const DOCUMENTS_SUFFIX = '__documents';

export interface StorageOptions {
  /** How many parts the chunks are split into; more than one only pays on a cluster. */
  shardNumber?: number | undefined;
  /** On how many nodes each part is kept. */
  replicationFactor?: number | undefined;
  /** `int8` keeps a quarter of the vectors' size in memory and asks the full ones about the best only. */
  quantization?: 'none' | 'int8' | undefined;
}

type IndexSchema = Schemas['PayloadFieldSchema'];

const LOOKUP: IndexSchema = { type: 'integer', lookup: true, range: false };
const RANGE: IndexSchema = { type: 'integer', lookup: false, range: true };

const CHUNK_INDEXES: Record<string, IndexSchema> = {
  chunkId: 'keyword',
  contentHash: 'keyword',
  uri: 'keyword',
  url: 'keyword',
  module: 'keyword',
  facets: 'keyword',
  terms: LOOKUP,
  weighedBy: 'float',
  born: RANGE,
  died: RANGE,
};

const DOCUMENT_INDEXES: Record<string, IndexSchema> = {
  uri: 'keyword',
  url: 'keyword',
  born: RANGE,
  died: RANGE,
};

/** Makes both, whichever are missing. Another process may be doing the same. */
export async function createCollections(
  connection: Connection,
  chunks: string,
  { dimensions }: CollectionIdentity,
  options: StorageOptions,
): Promise<void> {
  const { shardNumber, replicationFactor, quantization } = options;
  const replicas = replicationFactor === undefined ? {} : { replication_factor: replicationFactor };
  const documents = `${chunks}${DOCUMENTS_SUFFIX}`;
  const marker = { metadata: { createdBy: 'citeloop' } };
  await create(connection, chunks, {
    vectors: { [DENSE]: { size: dimensions, distance: 'Cosine' } },
    // Links for each value of each index would be made, for each term too; filtered searches use ACORN instead.
    hnsw_config: { payload_m: 0 },
    // No `idf` modifier: it is counted per shard and with points that readers do not see.
    sparse_vectors: { [TERMS]: {} },
    ...marker,
    ...replicas,
    ...(shardNumber !== undefined && { shard_number: shardNumber }),
    ...(quantization === 'int8' && {
      quantization_config: { scalar: { type: 'int8', always_ram: true } },
    }),
  });
  await create(connection, documents, {
    vectors: {},
    // One shard, so that one node decides about the head.
    shard_number: 1,
    ...marker,
    ...replicas,
  });
  await Promise.all([
    createIndexes(connection, chunks, CHUNK_INDEXES),
    createIndexes(connection, documents, DOCUMENT_INDEXES),
  ]);
}

async function create(
  connection: Connection,
  collection: string,
  config: Parameters<QdrantClient['createCollection']>[1],
): Promise<void> {
  await connection.call(null, (client) => ifMissing(client.createCollection(collection, config)));
}

async function createIndexes(
  connection: Connection,
  collection: string,
  indexes: Record<string, IndexSchema>,
): Promise<void> {
  for (const [field_name, field_schema] of Object.entries(indexes)) {
    await connection.call(collection, (client) =>
      client.createPayloadIndex(collection, { field_name, field_schema, wait: true }),
    );
  }
}

/** The server's own description of a collection; null if there is none. */
export function describeCollection(
  connection: Connection,
  collection: string,
): Promise<Schemas['CollectionInfo'] | null> {
  return connection.call(collection, (client) =>
    client.getCollection(collection).catch((error: unknown) => {
      if (statusOf(error) === 404) return null;
      throw error;
    }),
  );
}

export function dropCollection(connection: Connection, collection: string): Promise<boolean> {
  return connection.call(collection, (client) => client.deleteCollection(collection));
}

/** Whether it is one of ours, complete or not. */
export function isOurs(info: Schemas['CollectionInfo']): boolean {
  return (info.config.metadata as { createdBy?: unknown } | null | undefined)?.createdBy === 'citeloop';
}

async function ifMissing(creating: Promise<unknown>): Promise<void> {
  await creating.catch((error: unknown) => {
    const reason = (error as { data?: { status?: { error?: string } } }).data?.status?.error ?? '';
    if (statusOf(error) === 409 || /already exists/i.test(reason)) return;
    throw error;
  });
}

function statusOf(error: unknown): number | undefined {
  return (error as { status?: number }).status;
}

/** Nothing of ours is in it that would say what a document is. */
export function readOnly(name: string): AppError {
  return new AppError(
    'configuration_error',
    `Collection "${name}" was not made by citeloop, so it can be searched but not written to.`,
    { hint: advice`Ingest into another ${setting('collection')}.` },
  );
}
