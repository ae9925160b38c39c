import type { Schemas } from '@qdrant/js-client-rest';
import type { Connection } from './connection.ts';
import { DENSE, type Point, type QdrantFilter } from './points.ts';
import { roundedNumbers } from './sparse-terms.ts';

/** How many points are read at a time. */
const READ_AT_ONCE = 1000;
/** Small enough that the server is at work on the first while the terms of the next are found. */
export const MOST_POINTS = 64;
/** A server takes 32 MB at once; a proxy before it may take less. */
const MOST_BYTES = 4_000_000;
/** While the server works on some, the next is made ready. */
const SENT_AT_ONCE = 4;

export interface ScrollOptions {
  collection: string;
  /** What messages call the collection. */
  name: string;
  filter?: QdrantFilter | null;
  /** The fields to read; all of them if it is left out. */
  fields?: string[];
  /** The name of a vector to read, or true for the one without a name. */
  vector?: string | true;
}

/** All points that pass a filter, read some at a time. */
export async function scrollAll(
  connection: Connection,
  { collection, name, filter = null, fields, vector }: ScrollOptions,
): Promise<Schemas['Record'][]> {
  const found: Schemas['Record'][] = [];
  let offset: Schemas['ExtendedPointId'] | undefined;
  do {
    const read = await connection.call(name, (client) =>
      client.scroll(collection, {
        filter,
        limit: READ_AT_ONCE,
        with_payload: fields ?? true,
        with_vector: typeof vector === 'string' ? [vector] : (vector ?? false),
        ...(offset !== undefined && { offset }),
      }),
    );
    found.push(...read.points);
    offset = (read.next_page_offset ?? undefined) as Schemas['ExtendedPointId'] | undefined;
  } while (offset !== undefined);
  return found;
}

interface UpsertOptions {
  collection: string;
  /** What messages call the collection. */
  name: string;
  points: Iterable<Point>;
  /** Called before each batch is sent. */
  beforeEach(): Promise<void>;
}

/** Sends points in batches of bounded size; once it resolves all of them are kept. */
export async function upsertPoints(connection: Connection, options: UpsertOptions): Promise<void> {
  const { collection, name, points, beforeEach } = options;
  const batches = inBatches(points);
  async function send(): Promise<void> {
    for (let next = batches.next(); !next.done; next = batches.next()) {
      const batch = next.value;
      await beforeEach();
      await connection.call(name, (client) => client.upsert(collection, { points: batch, wait: true }));
    }
  }
  // All must be done before anyone tidies up after a failure of one.
  const outcomes = await Promise.allSettled(Array.from({ length: SENT_AT_ONCE }, send));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

interface UpdateOptions extends Omit<UpsertOptions, 'points'> {
  filter: QdrantFilter;
  /** By content hash. */
  vectors: ReadonlyMap<string, Float32Array>;
}

/** Gives their vectors to the points that pass a filter; once it resolves all of them are kept. */
export async function updateVectors(connection: Connection, options: UpdateOptions): Promise<void> {
  const { collection, name, filter, vectors, beforeEach } = options;
  const found = await scrollAll(connection, { collection, name, filter, fields: ['contentHash'] });
  const points = found.flatMap(({ id, payload }) => {
    const vector = vectors.get(String(payload?.contentHash));
    return vector === undefined ? [] : [{ id, vector: { [DENSE]: roundedNumbers(vector) } }];
  });
  for (let start = 0; start < points.length; start += MOST_POINTS) {
    const batch = points.slice(start, start + MOST_POINTS);
    await beforeEach();
    await connection.call(name, (client) => client.updateVectors(collection, { points: batch, wait: true }));
  }
}

function* inBatches(points: Iterable<Point>): Generator<Point[], undefined> {
  let batch: Point[] = [];
  let bytes = 0;
  for (const point of points) {
    const size = sizeOf(point);
    if (batch.length >= MOST_POINTS || (batch.length > 0 && bytes + size > MOST_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(point);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** About how long it is as JSON: 13 characters a number, up to three bytes a character of text. */
function sizeOf({ vector, payload }: Point): number {
  const numbers = Object.values(vector).reduce(
    (sum, values) => sum + (Array.isArray(values) ? values.length : 3 * values.indices.length),
    0,
  );
  return 13 * numbers + 3 * String(payload.text ?? '').length + 1000;
}
