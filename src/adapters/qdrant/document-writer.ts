import { duplicateUrlError, invalidVectorError } from '../../domain/collection-identity.ts';
import type { ChunkVectors, DocumentWrite } from '../../ports/chunk-store.ts';
import { readDocumentRecords } from './collection-maintenance.ts';
import { deletePoints, type PointCollection, setPointVectors, upsertPoints } from './point-requests.ts';
import {
  DENSE_VECTOR,
  documentRecordId,
  documentVersion,
  matchAny,
  type QdrantPoint,
  toChunkPoint,
  toNamedVectors,
  toRecordPoint,
  type VersionedDocument,
  WORDS_VECTOR,
} from './qdrant-points.ts';
import { extractChunkTerms } from './sparse-terms.ts';

/**
 * Replaces each document whole: writes the chunks of the new version, then the record that names it, then deletes the
 * chunks of the previous version. The record is one point, so readers switch from one version to the other at once. An
 * interrupted write leaves chunks that no record names; `removeLeftoverPoints` deletes them.
 */
export function createDocumentWriter(
  chunks: PointCollection,
  documents: PointCollection,
  { dimensions, hasWords, now }: { dimensions: number; hasWords: boolean; now: () => Date },
) {
  async function replace(writes: readonly DocumentWrite[], uris: readonly string[]): Promise<boolean> {
    const [previous] = await Promise.all([
      readDocumentRecords(documents, matchAny('uri', uris)),
      assertAddressesFree(writes, new Set(uris)),
    ]);
    const records = await addChunks(writes);
    await upsertPoints(documents, records.map(toRecordPoint));
    // Only what this write replaces: another process may be writing other versions.
    const versions = new Set(records.map(({ version }) => version));
    const ids = new Set(records.map(documentRecordId));
    const oldIds = previous.map(documentRecordId).filter((id) => !ids.has(id));
    const oldVersions = previous.map(({ version }) => version).filter((version) => !versions.has(version));
    if (oldIds.length > 0) await deletePoints(documents, { points: oldIds });
    if (oldVersions.length > 0) {
      await deletePoints(chunks, { filter: { must: [matchAny('version', oldVersions)] } });
    }
    return records.length + previous.length > 0;
  }

  /** Points are built as they are sent: the terms of one batch are computed while the server indexes another. */
  async function addChunks(writes: readonly DocumentWrite[]): Promise<VersionedDocument[]> {
    const writtenAt = now().getTime();
    const records: VersionedDocument[] = [];
    function* points(): Generator<QdrantPoint> {
      for (const write of writes) {
        const { document, chunks: given } = write;
        const version = documentVersion(write);
        const record = { ...document, version, writtenAt, chunks: given.length, bytes: 0 };
        for (const chunk of given) {
          const words = hasWords ? chunk.words : null;
          const terms = extractChunkTerms(document.title, chunk.headings, chunk.text);
          record.bytes += Buffer.byteLength(chunk.text) + 12 * terms.length + 4 * dimensions;
          record.bytes += 2 * (words === null ? 0 : words.text.length + words.path.length);
          yield toChunkPoint({ ...chunk, words }, document, { terms, version, writtenAt });
        }
        records.push(record);
      }
    }
    await upsertPoints(chunks, points());
    return records;
  }

  /** Chunk ids are made of addresses: two documents with the same address would have the same ids. */
  async function assertAddressesFree(
    writes: readonly DocumentWrite[],
    replaced: ReadonlySet<string>,
  ): Promise<void> {
    const owners = new Map<string, string>();
    for (const { document, chunks: given } of writes) {
      if (given.length === 0) continue;
      const owner = owners.get(document.url);
      if (owner !== undefined) throw duplicateUrlError(document, owner);
      owners.set(document.url, document.uri);
    }
    if (owners.size === 0) return;
    const sameAddress = await readDocumentRecords(documents, matchAny('url', [...owners.keys()]));
    for (const { uri, url, chunks: count } of sameAddress) {
      if (replaced.has(uri) || count === 0) continue;
      throw duplicateUrlError({ uri: owners.get(url) ?? '', url }, uri);
    }
  }

  function assertUsable(vector: Float32Array): void {
    if (vector.length !== dimensions || !vector.every(Number.isFinite)) throw invalidVectorError(dimensions);
  }

  return {
    async write(writes: readonly DocumentWrite[]): Promise<void> {
      for (const { chunks: given } of writes) {
        for (const { vector } of given) if (vector !== null) assertUsable(vector);
      }
      const replaced = writes.flatMap(({ document, replaces }) => [document.uri, replaces ?? document.uri]);
      // The last version of a document in a batch wins.
      const latest = new Map(writes.map((write) => [write.document.uri, write]));
      await replace([...latest.values()], [...new Set(replaced)]);
    },

    /** False if there was nothing to remove. */
    remove: (uris: readonly string[]) => replace([], [...new Set(uris)]),

    async addVectors(added: ReadonlyMap<string, ChunkVectors>): Promise<void> {
      for (const { vector } of added.values()) assertUsable(vector);
      const vectors = new Map<string, QdrantPoint['vector']>();
      const ofWords = new Map<string, QdrantPoint['vector']>();
      for (const [hash, { vector, words: given }] of added) {
        const words = hasWords ? given : null;
        vectors.set(hash, toNamedVectors({ vector, words }));
        if (words !== null) ofWords.set(hash, toNamedVectors({ vector: null, words }));
      }
      await setPointVectors(chunks, DENSE_VECTOR, vectors);
      // Of chunks that were embedded without words.
      if (ofWords.size > 0) await setPointVectors(chunks, WORDS_VECTOR, ofWords);
    },
  };
}
