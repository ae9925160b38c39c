import { describeQdrantCollection } from './collection-schema.ts';
import {
  countPoints,
  deletePoints,
  type PointCollection,
  scrollPoints,
  updatePoints,
} from './point-requests.ts';
import {
  CHUNK_FIELDS,
  documentRecordId,
  matchAny,
  payloadToChunk,
  payloadToVersionedDocument,
  type QdrantFilter,
  TERMS_VECTOR,
  type VersionedDocument,
} from './qdrant-points.ts';
import { extractChunkTerms, toSparseVector } from './sparse-terms.ts';

/** Younger points without a record may belong to a write that is in progress in another process. */
const LEFTOVER_AGE_MS = 3_600_000;
/** In a small collection, every chunk is reweighed when the average length changes at all. */
const SMALL_COLLECTION = 5000;
/** In a larger one, only when the average has changed by this share; it has little influence on the ranking. */
const TOLERATED_CHANGE = 0.02;
const ROUNDING_ERROR = 1e-6;
const REWEIGH_BATCH = 250;

export async function readDocumentRecords(documents: PointCollection): Promise<VersionedDocument[]> {
  // The point that marks changes has no version.
  const points = await scrollPoints(documents, { filter: { must_not: [{ is_empty: { key: 'version' } }] } });
  return points.map(({ payload }) => payloadToVersionedDocument(payload));
}

/**
 * Removes what interrupted writes left: earlier records of a document, and chunks of versions that no record names.
 * Returns the remaining records.
 */
export async function removeLeftoverPoints(
  chunks: PointCollection,
  documents: PointCollection,
  now: number,
): Promise<VersionedDocument[]> {
  const newest = new Map<string, VersionedDocument>();
  const replaced: VersionedDocument[] = [];
  for (const record of (await readDocumentRecords(documents)).sort((a, b) => b.writtenAt - a.writtenAt)) {
    if (newest.has(record.uri)) replaced.push(record);
    else newest.set(record.uri, record);
  }
  if (replaced.length > 0) await deletePoints(documents, { points: replaced.map(documentRecordId) });
  const records = [...newest.values()];
  const current = new Set(records.map(({ version }) => version));
  const stored = [...(await countByVersion(chunks, 2 * current.size)).keys()];
  const unnamed = stored.filter((version) => !current.has(version));
  const filter = { must: [matchAny('version', unnamed)] };
  const points = unnamed.length === 0 ? [] : await scrollPoints(chunks, { filter, fields: ['writtenAt'] });
  const old = points.filter(({ payload }) => Number(payload?.writtenAt) < now - LEFTOVER_AGE_MS);
  if (old.length > 0) await deletePoints(chunks, { points: old.map(({ id }) => String(id)) });
  return records;
}

/** The number of chunks of each version. */
async function countByVersion(chunks: PointCollection, expected: number): Promise<Map<string, number>> {
  const { hits } = await chunks.connection.call(chunks.name, (client) =>
    client.facet(chunks.collection, { key: 'version', limit: expected + 1000, exact: true }),
  );
  return new Map(hits.map(({ value, count }) => [String(value), count]));
}

/** What is wrong with a collection, one sentence each. */
export async function findPointProblems(
  chunks: PointCollection,
  documents: PointCollection,
): Promise<string[]> {
  const records = await readDocumentRecords(documents);
  const [info, stored, withoutTerms] = await Promise.all([
    describeQdrantCollection(chunks.connection, chunks.collection),
    countByVersion(chunks, 2 * records.length),
    countPoints(chunks, { must_not: [{ has_vector: TERMS_VECTOR }] }),
  ]);
  const incomplete = records.filter(({ version, chunks: count }) => (stored.get(version) ?? 0) !== count);
  const problems: [number, string][] = [
    [withoutTerms, 'chunks have no terms'],
    [incomplete.length, 'documents have missing or extra chunks'],
    [records.length - new Set(records.map(({ uri }) => uri)).size, 'documents are stored twice'],
  ];
  return [
    ...(info?.status === 'red' ? [`The server reports an error in ${chunks.collection}.`] : []),
    ...problems.filter(([count]) => count > 0).map(([count, problem]) => `${count} ${problem}.`),
  ];
}

export interface ChunkTotals {
  chunks: number;
  /** Terms of all chunks. */
  length: number;
}

export function sumChunkTotals(records: readonly ChunkTotals[]): ChunkTotals {
  return {
    chunks: records.reduce((sum, { chunks }) => sum + chunks, 0),
    length: records.reduce((sum, { length }) => sum + length, 0),
  };
}

export function averageChunkLength({ chunks, length }: ChunkTotals): number {
  return chunks === 0 ? 1 : length / chunks;
}

/**
 * The weight of a term in a chunk depends on the average length of all chunks, which was different when the first
 * were written. Chunks can be searched while they are reweighed.
 */
export async function reweighChunks(chunks: PointCollection, totals: ChunkTotals): Promise<void> {
  const average = averageChunkLength(totals);
  const filter = otherAverage(average, totals.chunks <= SMALL_COLLECTION ? ROUNDING_ERROR : TOLERATED_CHANGE);
  for (;;) {
    const { points } = await chunks.connection.call(chunks.name, (client) =>
      client.scroll(chunks.collection, { filter, limit: REWEIGH_BATCH, with_payload: CHUNK_FIELDS }),
    );
    if (points.length === 0) return;
    const weighed = points.map(({ id, payload }) => {
      const { title, headings, text } = payloadToChunk(payload);
      return {
        id,
        vector: { [TERMS_VECTOR]: toSparseVector(extractChunkTerms(title, headings, text), average) },
      };
    });
    const ids = points.map(({ id }) => id);
    await updatePoints(chunks, [
      { update_vectors: { points: weighed } },
      { set_payload: { payload: { averageLength: average }, points: ids } },
    ]);
  }
}

function otherAverage(average: number, tolerance: number): QdrantFilter {
  return {
    should: [
      { key: 'averageLength', range: { lt: average * (1 - tolerance) } },
      { key: 'averageLength', range: { gt: average * (1 + tolerance) } },
    ],
  };
}
