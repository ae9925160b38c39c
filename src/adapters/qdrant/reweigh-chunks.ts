import type { Head } from './collection-head.ts';
import type { Connection } from './connection.ts';
import { CHUNK_FIELDS, TERMS, toChunk } from './point-payload.ts';
import { documentVector, termsOf } from './sparse-terms.ts';
import { type QdrantFilter, visibleAt } from './visibility.ts';

/** Few enough to be weighed anew whenever the average has moved at all. */
const FEW_CHUNKS = 5000;
/** Of more than that, those for which it has moved this much: it decides little. */
const TOLERATED_SHARE = 0.02;
const LEAST_SHARE = 1e-6;
const BATCH = 250;

interface WeighedCollection {
  connection: Connection;
  name: string;
  chunks: string;
  head: Head;
}

/**
 * The weights of a chunk's terms depend on the average length of all chunks, which was another one when the
 * first of them were written.
 */
export async function hasOutdatedWeights({
  connection,
  name,
  chunks,
  head,
}: WeighedCollection): Promise<boolean> {
  const filter = outdatedAt(head);
  const { count } = await connection.call(name, (client) => client.count(chunks, { filter, exact: true }));
  return count > 0;
}

/** Weighs chunks by the average length of today. Nobody else may write meanwhile; readers may read. */
export async function reweighChunks({
  connection,
  name,
  chunks,
  head,
  beforeEach,
}: WeighedCollection & { beforeEach(): Promise<void> }): Promise<void> {
  const { averageLength } = head;
  const filter = outdatedAt(head);
  for (;;) {
    await beforeEach();
    const { points } = await connection.call(name, (client) =>
      client.scroll(chunks, { filter, limit: BATCH, with_payload: CHUNK_FIELDS }),
    );
    if (points.length === 0) return;
    const weighed = points.map(({ id, payload }) => {
      const { title, headings, text } = toChunk(payload);
      return { id, vector: { [TERMS]: documentVector(termsOf(title, headings, text), averageLength) } };
    });
    const ids = points.map(({ id }) => id);
    await connection.call(name, (client) =>
      client.batchUpdate(chunks, {
        operations: [
          { update_vectors: { points: weighed } },
          { set_payload: { payload: { weighedBy: averageLength }, points: ids } },
        ],
        wait: true,
      }),
    );
  }
}

function outdatedAt({ epoch, chunks, averageLength }: Head): QdrantFilter {
  const share = chunks <= FEW_CHUNKS ? LEAST_SHARE : TOLERATED_SHARE;
  return {
    ...visibleAt(epoch),
    should: [
      { key: 'weighedBy', range: { lt: averageLength * (1 - share) } },
      { key: 'weighedBy', range: { gt: averageLength * (1 + share) } },
    ],
  };
}
