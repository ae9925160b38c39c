import * as z from 'zod';
import { retrievedChunkSchema } from '../../domain/retrieved-chunk.ts';
import type { DocumentRecord, EmbeddedChunk, StoredChunk } from '../../ports/chunk-store.ts';
import { facetsOf } from './filter-conditions.ts';
import { documentVector, roundedNumbers } from './sparse-terms.ts';
import { NEVER } from './visibility.ts';

export const DENSE = 'dense';
export const TERMS = 'terms';

const storedChunkSchema = retrievedChunkSchema.omit({ score: true });

/** What is asked for to read a chunk: not its terms, which nobody reads. */
export const CHUNK_FIELDS = Object.keys(storedChunkSchema.shape);

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
  chunk: EmbeddedChunk,
  document: DocumentRecord,
  { terms, averageLength, born }: { terms: readonly string[]; averageLength: number; born: number },
): Point {
  const sparse = documentVector(terms, averageLength);
  return {
    id: pointId(chunk.chunkId, born),
    vector: { [DENSE]: roundedNumbers(chunk.vector), [TERMS]: sparse },
    payload: {
      chunkId: chunk.chunkId,
      text: chunk.text,
      url: document.url,
      title: document.title,
      module: document.module,
      chapter: document.chapter,
      headings: chunk.headings,
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
  return storedChunkSchema.parse(payload);
}

export function denseVector(vector: unknown): Float32Array {
  return Float32Array.from((vector as Record<string, number[]>)[DENSE] ?? []);
}

export function toDocument(payload: unknown): DocumentRecord {
  return documentSchema.parse(payload);
}

export function toStoredDocument(payload: unknown): StoredDocument {
  return { ...documentSchema.parse(payload), ...documentSizeSchema.parse(payload) };
}

/**
 * A chunk has another point in each version of its document, since the old and the new must exist side by
 * side. The first half stays the same, so that equal scores come in the same order after a rewrite.
 */
export function pointId(chunkId: string, born: number): string {
  const hex = chunkId.replaceAll('-', '').slice(0, 16) + born.toString(16).padStart(16, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
