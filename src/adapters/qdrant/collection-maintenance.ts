import { describeQdrantCollection } from './collection-schema.ts';
import { countPoints, deletePoints, type PointCollection, readAllPoints } from './point-requests.ts';
import {
  documentRecordId,
  matchAny,
  type QdrantCondition,
  TERMS_VECTOR,
  type VersionedDocument,
  versionedDocumentSchema,
} from './qdrant-points.ts';

/** Younger points without a record may belong to a write that is in progress in another process. */
const LEFTOVER_AGE_MS = 3_600_000;

export async function readDocumentRecords(
  documents: PointCollection,
  ...conditions: QdrantCondition[]
): Promise<VersionedDocument[]> {
  // The point that marks changes has no version.
  const filter =
    conditions.length > 0 ? { must: conditions } : { must_not: [{ is_empty: { key: 'version' } }] };
  const points = await readAllPoints(documents, { filter });
  return points.map(({ payload }) => versionedDocumentSchema.parse(payload));
}

/** The number of chunks of each module, sorted by name. */
export function countModules(counted: readonly { module: string | null; chunks: number }[]) {
  const modules = new Map<string, number>();
  for (const { module, chunks } of counted) {
    if (module !== null) modules.set(module, (modules.get(module) ?? 0) + chunks);
  }
  return Array.from(modules, ([name, chunks]) => ({ name, chunks })).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}

/** Removes what interrupted writes left: earlier records of a document, and chunks of versions that no record names. */
export async function removeLeftoverPoints(
  chunks: PointCollection,
  documents: PointCollection,
  now: number,
): Promise<void> {
  const newest = new Map<string, VersionedDocument>();
  const replaced: VersionedDocument[] = [];
  for (const record of (await readDocumentRecords(documents)).sort((a, b) => b.writtenAt - a.writtenAt)) {
    if (newest.has(record.uri)) replaced.push(record);
    else newest.set(record.uri, record);
  }
  if (replaced.length > 0) await deletePoints(documents, { points: replaced.map(documentRecordId) });
  const current = new Set(Array.from(newest.values(), ({ version }) => version));
  const stored = [...(await countByVersion(chunks, 2 * current.size)).keys()];
  const unnamed = stored.filter((version) => !current.has(version));
  const filter = { must: [matchAny('version', unnamed)] };
  const points = unnamed.length === 0 ? [] : await readAllPoints(chunks, { filter, fields: ['writtenAt'] });
  const old = points.filter(({ payload }) => Number(payload?.writtenAt) < now - LEFTOVER_AGE_MS);
  if (old.length > 0) await deletePoints(chunks, { points: old.map(({ id }) => String(id)) });
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
