import { scrollAll } from './bulk-requests.ts';
import type { Head } from './collection-head.ts';
import { describeCollection } from './collection-schema.ts';
import type { Connection } from './connection.ts';
import { CHUNK_FIELDS, DENSE, type QdrantFilter, TERMS, toChunk, visibleAt } from './points.ts';
import { documentVector, termsOf } from './sparse-terms.ts';

/** Few enough to be weighed anew whenever the average has moved at all. */
const FEW_CHUNKS = 5000;
/** Of more than that, those for which it has moved this much: it decides little. */
const TOLERATED_SHARE = 0.02;
const LEAST_SHARE = 1e-6;
/** How many are weighed at a time. */
const BATCH = 250;

interface OpenCollection {
  connection: Connection;
  name: string;
  chunks: string;
  head: Head;
}

/** What is wrong with a collection: on the server, or between its parts. */
export async function findProblems(collection: OpenCollection & { documents: string }): Promise<string[]> {
  const { connection, name, chunks, documents, head } = collection;
  const visible = visibleAt(head.epoch);
  const count = async (filter: object) => {
    const result = await connection.call(name, (client) => client.count(chunks, { filter, exact: true }));
    return result.count;
  };
  const fields = ['uri', 'chunks'];
  const records = await scrollAll(connection, { collection: documents, name, filter: visible, fields });
  const [described, all, dense, sparse, byDocument] = await Promise.all([
    describeCollection(connection, chunks),
    count(visible),
    count({ must: [...(visible.must as []), { has_vector: DENSE }] }),
    count({ must: [...(visible.must as []), { has_vector: TERMS }] }),
    connection.call(name, (client) =>
      client.facet(chunks, { key: 'uri', filter: visible, limit: records.length + 1000, exact: true }),
    ),
  ]);
  const expected = new Map(records.map(({ payload }) => [String(payload?.uri), Number(payload?.chunks)]));
  const found = new Map(byDocument.hits.map((hit) => [String(hit.value), hit.count]));
  const partial = [...expected].filter(([uri, chunkCount]) => (found.get(uri) ?? 0) !== chunkCount);
  const strange = [...found.keys()].filter((uri) => !expected.has(uri));
  const problems: [number, string][] = [
    // Some are to be embedded yet where the head says so.
    [head.partial ? 0 : Math.max(0, all - dense), 'chunks are without a vector'],
    [Math.max(0, all - sparse), 'chunks are without terms'],
    [partial.length, 'documents have other chunks than were written'],
    [strange.length, 'documents are gone but for chunks'],
    [records.length - expected.size, 'documents are there twice'],
    [Math.abs(head.documents - records.length), 'documents more or less than were counted when written'],
    [Math.abs(head.chunks - all), 'chunks more or less than were counted when written'],
  ];
  return [
    ...(described?.status === 'red' ? [`The server says that something is wrong with ${chunks}.`] : []),
    ...problems.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}.`),
  ];
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
}: OpenCollection): Promise<boolean> {
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
}: OpenCollection & { beforeEach(): Promise<void> }): Promise<void> {
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
