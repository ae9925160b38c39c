import type { Schemas } from '@qdrant/js-client-rest';
import * as z from 'zod';
import { citedAddress, fileOf } from '../../domain/place.ts';
import type { Filter } from '../../domain/query.ts';
import { retrievedChunkSchema } from '../../domain/retrieved-chunk.ts';
import type { ChunkRecord, DocumentRecord, DocumentWrite, StoredChunk } from '../../ports/chunk-store.ts';
import { documentVector, roundedNumbers } from './sparse-terms.ts';

/** The names of the two vectors of a chunk. */
export const DENSE = 'dense';
export const TERMS = 'terms';

export type QdrantFilter = Schemas['Filter'];
export type Condition = Schemas['FieldCondition'] | Schemas['HasIdCondition'] | Schemas['Filter'];

/** When a point dies that nothing has replaced yet. */
export const NEVER = 2 ** 52;

/** What most filters name; the rest is found by pairs. */
const FIELDS = new Set(['module', 'url', 'uri']);

/** Payloads on earlier tapes do not say where the document was found. */
const chunkPayloadSchema = retrievedChunkSchema
  .omit({ score: true, rank: true })
  .extend({ root: z.string().default('') });

/** What is asked for to read a chunk: not its terms, which nobody reads. */
export const CHUNK_FIELDS = Object.keys(chunkPayloadSchema.shape);

const documentSchema = z.object({
  uri: z.string(),
  url: z.string(),
  root: z.string(),
  title: z.string(),
  module: z.string().nullable(),
  chapter: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  contentHash: z.string(),
  fingerprint: z.string(),
});

/** What a document's own point says besides the record: sums that need not be counted then. */
const documentSizeSchema = z.object({ chunks: z.number(), bytes: z.number(), length: z.number() });

export type DocumentSize = z.infer<typeof documentSizeSchema>;
export type StoredDocument = DocumentRecord & DocumentSize;

export interface Point {
  id: string;
  vector: Record<string, number[] | { indices: number[]; values: number[] }>;
  payload: Record<string, unknown>;
}

export function chunkPoint(
  chunk: ChunkRecord,
  document: DocumentRecord,
  { terms, averageLength, born }: { terms: readonly string[]; averageLength: number; born: number },
): Point {
  const sparse = documentVector(terms, averageLength);
  return {
    id: pointId(chunk.chunkId, born),
    vector: { ...(chunk.vector && { [DENSE]: roundedNumbers(chunk.vector) }), [TERMS]: sparse },
    payload: {
      chunkId: chunk.chunkId,
      text: chunk.text,
      url: document.url,
      title: document.title,
      module: document.module,
      chapter: document.chapter,
      headings: chunk.headings,
      ...(chunk.location && { location: chunk.location }),
      chunkIndex: chunk.chunkIndex,
      tokenCount: chunk.tokenCount,
      contentHash: chunk.contentHash,
      start: chunk.start,
      uri: document.uri,
      root: document.root,
      metadata: document.metadata,
      documentHash: document.contentHash,
      facets: facetsOf(document),
      // Once more, since nothing counts the points that have a term in a sparse vector.
      terms: sparse.indices,
      weighedBy: averageLength,
      born,
      died: NEVER,
    },
  };
}

export function documentPoint(document: StoredDocument, id: string, born: number): Point {
  return { id, vector: {}, payload: { ...document, born, died: NEVER } };
}

export function toChunk(payload: unknown): StoredChunk {
  const { root, uri = '', ...chunk } = chunkPayloadSchema.parse(payload);
  return { ...chunk, url: citedAddress({ url: chunk.url, uri: uri || chunk.url, root }), ...fileOf(uri) };
}

/** Null if the point has none yet. */
export function denseVector(vector: unknown): Float32Array | null {
  const values = (vector as Record<string, number[] | undefined> | null | undefined)?.[DENSE];
  return values === undefined ? null : Float32Array.from(values);
}

/** The points that have no vector yet. */
export function unembeddedAt(epoch: number, must: readonly Condition[] = []): QdrantFilter {
  return { ...visibleAt(epoch, must), must_not: [{ has_vector: DENSE }] };
}

export function toDocument(payload: unknown): DocumentRecord {
  const document = documentSchema.parse(payload);
  return { ...document, url: citedAddress(document) };
}

export function toStoredDocument(payload: unknown): StoredDocument {
  return { ...toDocument(payload), ...documentSizeSchema.parse(payload) };
}

/**
 * A chunk has another point in each version of its document, since the old and the new must exist side by
 * side. The first half stays the same, so that equal scores come in the same order after a rewrite.
 */
export function pointId(chunkId: string, born: number): string {
  const hex = chunkId.replaceAll('-', '').slice(0, 16) + born.toString(16).padStart(16, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Documents put together again from their own points and those of their chunks, in the order of the URIs. */
export function toDocuments(
  uris: readonly string[],
  records: readonly Schemas['Record'][],
  chunkPoints: readonly Schemas['Record'][],
): DocumentWrite[] {
  const documents = new Map(records.map(({ payload }) => [String(payload?.uri), toDocument(payload)]));
  const chunks = Map.groupBy(chunkPoints, ({ payload }) => String(payload?.uri));
  return uris.flatMap((uri) => {
    const document = documents.get(uri);
    if (document === undefined) return [];
    const own = (chunks.get(uri) ?? []).map(toEmbedded).sort((a, b) => a.chunkIndex - b.chunkIndex);
    return [{ document, chunks: own }];
  });
}

function toEmbedded({ payload, vector }: Schemas['Record']): ChunkRecord {
  const { chunkId, chunkIndex, text, headings, location, tokenCount, contentHash } = toChunk(payload);
  const start = Number(payload?.start ?? 0);
  const kept = { chunkId, chunkIndex, text, start, headings, tokenCount, contentHash };
  return { ...kept, ...(location && { location }), vector: denseVector(vector) };
}

/**
 * The points that belong to an epoch. Every point says in which epoch it is born and in which it dies; what is
 * being written is born later than the current one, what was replaced has died by then.
 */
export function visibleAt(epoch: number, must: readonly Condition[] = []): QdrantFilter {
  return {
    must: [...must, { key: 'born', range: { lte: epoch } }, { key: 'died', range: { gt: epoch } }],
  };
}

/** What the head says of writes. */
interface WritingState {
  epoch: number;
  /** The number of the last write that began. */
  attempt: number;
  writer: string | null;
  /** The epoch to which every point belonged when the last write ended. */
  wholeAt: number;
}

/** Whether nothing is being written and nothing is left of a write: then every point belongs to the epoch. */
function isQuiet({ epoch, writer, wholeAt }: WritingState): boolean {
  return writer === null && wholeAt === epoch;
}

/** What a reader asks for. Telling the epochs of points apart takes the server time, so it is left out where it is quiet. */
export function readableAt(state: WritingState, must: readonly Condition[] = []): QdrantFilter | null {
  if (!isQuiet(state)) return visibleAt(state.epoch, must);
  return must.length === 0 ? null : { must: [...must] };
}

/** Whether what was read in one state was all there was, given the state after it: no write came in between that it could have seen. */
export function isUnchanged(before: WritingState, after: WritingState): boolean {
  return before.epoch === after.epoch && (!isQuiet(before) || before.attempt === after.attempt);
}

export function bornAfter(epoch: number): Condition {
  return { key: 'born', range: { gt: epoch } };
}

export function diedBy(epoch: number): Condition {
  return { key: 'died', range: { lte: epoch } };
}

/** Points that a write has marked to die, but has not come to replace. */
export function doomedAfter(epoch: number): Condition {
  return { key: 'died', range: { gt: epoch, lt: NEVER } };
}

export function anyOf(key: string, values: readonly string[]): Condition {
  return { key, match: { any: [...values] } };
}

/** A filter of the domain as conditions of Qdrant. */
export function filterConditions(filter: Filter): Condition[] {
  return Object.entries(filter).map(([key, values]) =>
    FIELDS.has(key)
      ? anyOf(key, values)
      : anyOf(
          'facets',
          values.map((value) => facetOf(key, value)),
        ),
  );
}

/**
 * Title, chapter and metadata as words to filter by, one for each pair of key and value: metadata may have any
 * key, which a path of Qdrant could not name, and as many as it likes, which could not all have an index.
 */
function facetsOf({ metadata, title, chapter }: DocumentRecord): string[] {
  return Object.entries({ ...metadata, title, chapter })
    .filter((entry): entry is [string, string] => entry[1] !== null)
    .map(([key, value]) => facetOf(key, value));
}

function facetOf(key: string, value: string): string {
  return JSON.stringify([key, value]);
}
