import type { CollectionIdentity } from '../domain/collection-identity.ts';
import type { DocumentChunk } from '../domain/document.ts';
import type { Filter } from '../domain/query.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';

export interface CollectionInfo extends CollectionIdentity {
  name: string;
  documents: number;
  chunks: number;
  /** Chunks without a vector; only full-text search finds them. */
  withoutVector: number;
  bytes: number;
  createdAt: string;
  updatedAt: string;
  /** What the documents are about, for the model; null or absent if it is not known. */
  description?: string | null;
  /** All modules in alphabetical order. */
  modules: { name: string; chunks: number }[];
}

/** A stored document without its chunks. */
export interface DocumentRecord {
  /** Where it was read from; identifies it in the collection. */
  uri: string;
  /** The public address: a web URL, or a path relative to the ingested root. */
  url: string;
  /** The URL it was found under; pruning stays inside it. */
  root: string;
  title: string;
  module: string | null;
  chapter: string | null;
  metadata: Record<string, string>;
  /** SHA-256 of its bytes. */
  contentHash: string;
  /** Everything else that determines its chunks, such as the chunker version and the base URL. */
  fingerprint: string;
}

export interface ChunkRecord extends Omit<DocumentChunk, 'embedded' | 'end'> {
  /** A UUID from the document's URL and the chunk's index. */
  chunkId: string;
  /** Null until it is embedded. */
  vector: Float32Array | null;
  /** Null until it is embedded by an embedder that has word vectors. */
  words: ChunkWords | null;
}

/** The word vectors of a chunk, `WORD_DIMENSIONS` values per content word in the order of `findContentWords`. */
export interface ChunkWords {
  text: Int8Array;
  /** Of its title and headings. */
  path: Int8Array;
}

/** The vectors of a chunk. */
export interface ChunkVectors {
  vector: Float32Array;
  /** Null if the embedder has no word vectors. */
  words: ChunkWords | null;
}

/** The words of a query with their weights. */
export interface WeightedWords {
  /** `WORD_DIMENSIONS` values per word. */
  vectors: Int8Array;
  weights: readonly number[];
}

/** From -1 to 1; 0 for a text without words. */
export interface WordScores {
  text: number;
  path: number;
}

/** A chunk without vectors. */
export type UnembeddedChunk = Pick<ChunkRecord, 'chunkId' | 'contentHash' | 'tokenCount'>;

export interface DocumentWrite {
  document: DocumentRecord;
  chunks: ChunkRecord[];
  /** The URI of the document that this one replaces after a rename. */
  replaces?: string;
}

/** A chunk as the store returns it, with the fields of its document that are cited. */
export type StoredChunk = Omit<RetrievedChunk, 'score' | 'rank'>;

export interface StoreSearchRequest {
  /** The full-text query; null for none. */
  text: string | null;
  /** The query vector; null for none. */
  vector: Float32Array | null;
  /** The cosine of unrelated texts; default 0. */
  baseline?: number;
  limit: number;
  filter: Filter;
}

export interface StoreHit {
  chunk: StoredChunk;
  /** Similarity to the query in 0..1. */
  score: number;
  /** Hits are sorted by it, highest first. */
  fusedScore: number;
  /** The rank from 1 and the score in 0..1 of the full-text search. */
  lexical: { rank: number; score: number } | null;
  /** The rank from 1 and the rescaled cosine of the vector search; null without a vector. */
  dense: { rank: number; score: number } | null;
}

/**
 * One collection. Each document is replaced whole: a search sees its old or its new version, never a mix. Vectors may be
 * added later; until then chunks are found and ranked by their words alone.
 */
export interface ChunkStore {
  readonly name: string;
  readonly identity: CollectionIdentity;
  info(): Promise<CollectionInfo>;
  /** Sets or, with null, removes the description. Optional. */
  describe?(description: string | null): Promise<void>;
  /** All documents, ordered by URI. */
  documents(): AsyncIterable<DocumentRecord>;
  /** Whole documents as `write` takes them, in the given order; unknown URIs are left out. */
  read(uris: readonly string[]): Promise<DocumentWrite[]>;
  /** The stored vectors for these content hashes. */
  vectors(contentHashes: readonly string[]): Promise<Map<string, ChunkVectors>>;
  /** The word vectors of these chunks by chunk id; without those that have none. */
  wordVectors(chunkIds: readonly string[]): Promise<Map<string, ChunkWords>>;
  /**
   * The weighted mean, over the words of a query, of the best cosine with a word of each chunk's text, and of its path, by
   * chunk id; without chunks that have no word vectors. Optional, for stores that compute it without reading the vectors.
   */
  scoreWords?(query: WeightedWords, chunkIds: readonly string[]): Promise<Map<string, WordScores>>;
  /** The chunks without a vector, or also those without word vectors, in the order they were written. */
  unembedded(options?: { words: boolean }): Promise<UnembeddedChunk[]>;
  /** The number of chunks without a vector; fast if there are none. */
  withoutVector(): Promise<number>;
  /**
   * Sets the vectors of chunks without one, and the word vectors of chunks without them, by content hash. They survive a
   * crash once it has resolved.
   */
  addVectors(vectors: ReadonlyMap<string, ChunkVectors>): Promise<void>;
  /** Adds or replaces documents, each whole or not at all; once it resolves they survive a crash. */
  write(documents: readonly DocumentWrite[]): Promise<void>;
  /** Removes documents; unknown URIs are ignored. */
  remove(uris: readonly string[]): Promise<void>;
  /** Hits in order, best first. */
  search(request: StoreSearchRequest): Promise<StoreHit[]>;
  /** The number of chunks that have each of these index terms; may be an estimate for many terms. Optional. */
  containing?(terms: readonly string[]): Promise<Map<string, number>>;
  /** The index terms that start with a text, in order. Optional, for stores that can list them. */
  termsFrom?(prefix: string): Promise<string[]>;
  /** The number of chunks that pass a filter. A document that is being replaced may count twice. */
  count(filter: Filter): Promise<number>;
  /** Chunks by id, in the given order; unknown ids are left out. */
  chunks(chunkIds: readonly string[]): Promise<StoredChunk[]>;
  /** A chunk and those around it in its document, in order. */
  neighbours(chunkId: string, before: number, after: number): Promise<StoredChunk[]>;
  /** Optimizes the store after many writes; optional. */
  settle(): Promise<void>;
  /** Problems of the collection's data that an ingest cannot repair, one sentence each. */
  check(): Promise<string[]>;
  /** URIs of documents that are no longer stored as they were written; an ingest replaces them. Optional. */
  damaged?(): Promise<string[]>;
  close(): Promise<void>;
}

/** The part of a collection that a conversation uses beside its retriever. */
export type ConversationStore = Pick<ChunkStore, 'name' | 'documents' | 'neighbours' | 'wordVectors'> & {
  info(): Promise<Pick<CollectionInfo, 'documents' | 'chunks' | 'modules' | 'description'>>;
  // Without it, changes of earlier sources are not reported.
} & (Pick<ChunkStore, 'chunks'> | { chunks?: undefined });

/** The collections of a store. */
export interface CollectionCatalog {
  /** Names in alphabetical order. */
  list(): Promise<string[]>;
  /** Null if there is no such collection. */
  open(name: string): Promise<ChunkStore | null>;
  /** Creates it if needed. Throws `configuration_error` if it was created with another embedder. */
  openOrCreate(name: string, identity: CollectionIdentity): Promise<ChunkStore>;
  /** False if there is no such collection. */
  delete(name: string): Promise<boolean>;
}
