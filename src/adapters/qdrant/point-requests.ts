import type { Schemas } from '@qdrant/js-client-rest';
import type { QdrantConnection } from './qdrant-connection.ts';
import { errorText, isApiError } from './qdrant-error.ts';
import { matchAny, type QdrantFilter, type QdrantPoint, withoutVectorFilter } from './qdrant-points.ts';

const SCROLL_LIMIT = 1000;
/** The word vectors of a chunk take some 20 KB. */
const SCROLL_LIMIT_WITH_VECTORS = 200;
/**
 * The server indexes one batch while the terms of the next are computed. Chunks of 512 tokens with all vectors stay far
 * below the 32 MB that it accepts.
 */
export const BATCH_POINTS = 64;
const PARALLEL_BATCHES = 4;

/** A collection on the server. */
export interface PointCollection {
  connection: QdrantConnection;
  /** Its name on the server. */
  collection: string;
  /** Its name in messages. */
  name: string;
}

interface ScrollOptions {
  filter?: QdrantFilter | null;
  /** The payload fields to read; all unless given. */
  fields?: string[];
  /** The names of the vectors to read, or true for the unnamed one; none unless given. */
  vectors?: string[] | true;
}

export async function readAllPoints(
  { connection, collection, name }: PointCollection,
  { filter = null, fields, vectors }: ScrollOptions = {},
): Promise<Schemas['Record'][]> {
  const found: Schemas['Record'][] = [];
  let offset: Schemas['ExtendedPointId'] | undefined;
  do {
    const page = await connection.call(name, (client) =>
      client.scroll(collection, {
        filter,
        limit: vectors ? SCROLL_LIMIT_WITH_VECTORS : SCROLL_LIMIT,
        with_payload: fields ?? true,
        with_vector: vectors ?? false,
        ...(offset !== undefined && { offset }),
      }),
    );
    found.push(...page.points);
    offset = (page.next_page_offset ?? undefined) as Schemas['ExtendedPointId'] | undefined;
  } while (offset !== undefined);
  return found;
}

export async function countPoints(
  { connection, collection, name }: PointCollection,
  filter: QdrantFilter | null,
  exact = true,
): Promise<number> {
  const { count } = await connection.call(name, (client) => client.count(collection, { filter, exact }));
  return count;
}

/** Missing ids are left out. */
export async function retrievePoints(
  { connection, collection, name }: PointCollection,
  ids: readonly (string | number)[],
  fields: string[] | true = true,
): Promise<Schemas['Record'][]> {
  if (ids.length === 0) return [];
  return connection.call(name, (client) =>
    client.retrieve(collection, { ids: [...ids], with_payload: fields }),
  );
}

/** Sends points in batches; once it resolves, all of them survive a crash. */
export async function upsertPoints(
  { connection, collection, name }: PointCollection,
  points: Iterable<QdrantPoint>,
): Promise<void> {
  const batches = inBatches(points);
  async function send(): Promise<void> {
    for (let next = batches.next(); !next.done; next = batches.next()) {
      const batch = next.value;
      await connection.call(name, (client) => client.upsert(collection, { points: batch, wait: true }));
    }
  }
  // Nothing is still being sent when a failure is reported.
  const outcomes = await Promise.allSettled(Array.from({ length: PARALLEL_BATCHES }, send));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

export async function deletePoints(
  { connection, collection, name }: PointCollection,
  selected: { points: string[] } | { filter: QdrantFilter },
): Promise<void> {
  await connection.call(name, (client) => client.delete(collection, { ...selected, wait: true }));
}

/** Gives the points without a vector of this name the vectors of their content hash. */
export async function setPointVectors(
  target: PointCollection,
  missing: string,
  vectors: ReadonlyMap<string, QdrantPoint['vector']>,
): Promise<void> {
  const filter = withoutVectorFilter(missing, [matchAny('contentHash', [...vectors.keys()])]);
  const found = await readAllPoints(target, { filter, fields: ['contentHash'] });
  const points = found.flatMap(({ id, payload }) => {
    const vector = vectors.get(String(payload?.contentHash));
    return vector === undefined ? [] : [{ id, vector }];
  });
  let hasMissing = false;
  for (const batch of inBatches(points)) if (!(await updateVectors(target, batch))) hasMissing = true;
  if (hasMissing) await setPointVectors(target, missing, vectors);
}

/** False if another process deleted one of the points: then some of the others may not be updated. */
export function updateVectors(
  { connection, collection, name }: PointCollection,
  points: Schemas['PointVectors'][],
): Promise<boolean> {
  return connection.call(name, (client) =>
    client.updateVectors(collection, { points, wait: true }).then(
      () => true,
      (error: unknown) => {
        if (isApiError(error) && /No point with id/.test(errorText(error))) return false;
        throw error;
      },
    ),
  );
}

function* inBatches<T>(items: Iterable<T>): Generator<T[], undefined> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < BATCH_POINTS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
