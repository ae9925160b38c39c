import type { Connection } from './connection.ts';
import type { Point } from './point-payload.ts';

/** Small enough that the server is at work on the first while the terms of the next are found. */
export const MOST_POINTS = 64;
/** A server takes 32 MB at once; a proxy before it may take less. */
const MOST_BYTES = 4_000_000;
/** While the server works on some, the next is made ready. */
const AT_ONCE = 4;

export interface UpsertOptions {
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
  const outcomes = await Promise.allSettled(Array.from({ length: AT_ONCE }, send));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
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
