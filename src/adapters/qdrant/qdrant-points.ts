import { createHash } from 'node:crypto';
import type { Schemas } from '@qdrant/js-client-rest';
import * as z from 'zod';
import type { Filter } from '../../domain/query.ts';
import { retrievedChunkSchema } from '../../domain/retrieved-chunk.ts';
import { documentAddress, fileUriField } from '../../domain/source-address.ts';
import type { ChunkRecord, DocumentRecord, DocumentWrite, StoredChunk } from '../../ports/chunk-store.ts';
import { WORD_DIMENSIONS } from '../../ports/embedder.ts';
import { roundNumbers, toSparseVector } from './sparse-terms.ts';

/** The names of the vectors of a chunk. */
export const DENSE_VECTOR = 'dense';
export const TERMS_VECTOR = 'terms';
/** A vector per word of the text, and of the title and headings. */
export const WORDS_VECTOR = 'words';
export const PATH_VECTOR = 'path';

export type QdrantFilter = Schemas['Filter'];
export type QdrantCondition = Schemas['FieldCondition'] | Schemas['HasIdCondition'] | Schemas['Filter'];

export interface QdrantPoint {
  id: string;
  vector: Record<string, number[] | number[][] | { indices: number[]; values: number[] }>;
  payload: Record<string, unknown>;
}

type PointVectors = {
  [DENSE_VECTOR]?: number[];
  [WORDS_VECTOR]?: number[][];
  [PATH_VECTOR]?: number[][];
};

const chunkPayloadSchema = retrievedChunkSchema
  .omit({ score: true, rank: true })
  .extend({ root: z.string() });

/** The payload fields of a chunk that readers need; its terms are left out. */
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

export const versionedDocumentSchema = documentSchema.extend({
  /** Names the chunk points that belong to the document. */
  version: z.string(),
  chunks: z.number(),
  /** Approximate size of payloads and vectors. */
  bytes: z.number(),
  /** Milliseconds since 1970. */
  writtenAt: z.number(),
});

/** A document's record on the server. */
export type VersionedDocument = z.infer<typeof versionedDocumentSchema>;

/** The id of a document's record, made of its address and its path below the root, so that it is the same on every machine. */
export function documentRecordId({ url, uri, root }: DocumentRecord): string {
  const path = uri.startsWith(root) ? uri.slice(root.length) : uri;
  return toUuid(sha256(`${url}\n${path}`).slice(0, 16).padEnd(32, '0'));
}

/** Changes with everything that is stored of a document, except vectors and where this machine keeps the file. */
export function documentVersion({ document, chunks }: DocumentWrite): string {
  const { uri: _, root: __, ...content } = document;
  const parts = chunks.map(({ chunkId, contentHash, location }) => [chunkId, contentHash, location]);
  return sha256(JSON.stringify([documentRecordId(document), content, parts])).slice(0, 32);
}

/**
 * The document (16 digits), its version (8) and the chunk (8). Two versions of a chunk have different ids, so both can
 * exist while the document is replaced, and writing the same version again overwrites it.
 */
function chunkPointId(record: string, version: string, chunkIndex: number): string {
  const index = chunkIndex.toString(16).padStart(8, '0');
  return toUuid(digitsOf(record).slice(0, 16) + version.slice(0, 8) + index);
}

/** The id of the record of the document that a chunk point belongs to. */
export function toRecordId(pointId: string): string {
  return toUuid(digitsOf(pointId).slice(0, 16).padEnd(32, '0'));
}

export function hasVersion(pointId: string, version: string | undefined): boolean {
  return version?.slice(0, 8) === digitsOf(pointId).slice(16, 24);
}

function digitsOf(uuid: string): string {
  return uuid.replaceAll('-', '');
}

function toUuid(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function toChunkPoint(
  chunk: ChunkRecord,
  document: DocumentRecord,
  { terms, version, writtenAt }: { terms: readonly string[]; version: string; writtenAt: number },
): QdrantPoint {
  const { vector, words, ...stored } = chunk;
  const { uri, url, root, title, module, chapter } = document;
  const sparse = toSparseVector(terms);
  return {
    id: chunkPointId(documentRecordId(document), version, chunk.chunkIndex),
    vector: { ...toNamedVectors({ vector, words }), [TERMS_VECTOR]: sparse },
    payload: {
      ...stored,
      uri,
      url,
      root,
      title,
      module,
      chapter,
      facets: facetsOf(document),
      // Also in the sparse vector, but the server cannot count the points that have a term there.
      terms: sparse.indices,
      version,
      writtenAt,
    },
  };
}

/** The vectors of a chunk that are not null, by name. */
export function toNamedVectors({ vector, words }: Pick<ChunkRecord, 'vector' | 'words'>): PointVectors {
  return {
    ...(vector && { [DENSE_VECTOR]: roundNumbers(vector) }),
    ...(words && { [WORDS_VECTOR]: toMultivector(words.text), [PATH_VECTOR]: toMultivector(words.path) }),
  };
}

/** Rounded away by the server, which takes two lists of natural numbers for a sparse vector. */
const FRACTION = 1e-9;

/** The server accepts no empty list; a zero vector has the same score as no word. */
function toMultivector(words: Int8Array): number[][] {
  const values = Array.from(words.length === 0 ? new Int8Array(WORD_DIMENSIONS) : words);
  values[0] = (values[0] as number) + FRACTION;
  return Array.from({ length: values.length / WORD_DIMENSIONS }, (_, word) =>
    values.slice(word * WORD_DIMENSIONS, (word + 1) * WORD_DIMENSIONS),
  );
}

export function toRecordPoint(document: VersionedDocument): QdrantPoint {
  return { id: documentRecordId(document), vector: {}, payload: document };
}

export function payloadToChunk(payload: unknown): StoredChunk {
  const { root, uri = '', ...chunk } = chunkPayloadSchema.parse(payload);
  return {
    ...chunk,
    url: documentAddress({ url: chunk.url, uri: uri || chunk.url, root }),
    ...fileUriField(uri),
  };
}

export function toChunkRecord({ payload, vector }: Schemas['Record']): ChunkRecord {
  const { chunkId, chunkIndex, text, headings, location, tokenCount, contentHash } = payloadToChunk(payload);
  const start = Number(payload?.start ?? 0);
  const chunk = { chunkId, chunkIndex, text, start, headings, tokenCount, contentHash };
  return { ...chunk, ...(location && { location }), ...fromNamedVectors(vector) };
}

/** Null for vectors that the point does not have. */
export function fromNamedVectors(named: unknown): Pick<ChunkRecord, 'vector' | 'words'> {
  const { [DENSE_VECTOR]: dense, [WORDS_VECTOR]: text, [PATH_VECTOR]: path } = (named ?? {}) as PointVectors;
  const vector = dense ? Float32Array.from(dense) : null;
  return {
    vector,
    words: text && path ? { text: fromMultivector(text), path: fromMultivector(path) } : null,
  };
}

function fromMultivector(vectors: readonly number[][]): Int8Array {
  const words = Int8Array.from(vectors.flat());
  return vectors.length === 1 && words.every((value) => value === 0) ? new Int8Array() : words;
}

export function payloadToDocument(payload: unknown): DocumentRecord {
  const document = documentSchema.parse(payload);
  return { ...document, url: documentAddress(document) };
}

/** The chunks that have no vector of this name yet. */
export function withoutVectorFilter(name: string, must: readonly QdrantCondition[] = []): QdrantFilter {
  return { must: [...must], must_not: [{ has_vector: name }] };
}

export function matchAny(key: string, values: readonly string[]): QdrantCondition {
  return { key, match: { any: [...values] } };
}

/** Indexed fields; other keys are filtered by `facets`. */
const FILTER_FIELDS = new Set(['module', 'url', 'uri']);

/** Null if the filter is empty: the server searches faster without one. */
export function toPointFilter(filter: Filter): QdrantFilter | null {
  const must = Object.entries(filter).map(([key, values]) =>
    FILTER_FIELDS.has(key)
      ? matchAny(key, values)
      : matchAny(
          'facets',
          values.map((value) => JSON.stringify([key, value])),
        ),
  );
  return must.length === 0 ? null : { must };
}

/** Title, chapter and metadata as one keyword per pair: metadata may have any key and any number of them. */
function facetsOf({ metadata, title, chapter }: DocumentRecord): string[] {
  return Object.entries({ ...metadata, title, chapter })
    .filter(([, value]) => value !== null)
    .map((pair) => JSON.stringify(pair));
}
