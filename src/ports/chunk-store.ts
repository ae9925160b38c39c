import type { CollectionIdentity } from '../domain/collection-identity.ts';
import type { Chunk } from '../domain/document.ts';
import type { Filter } from '../domain/query.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';

export interface CollectionInfo extends CollectionIdentity {
  name: string;
  documents: number;
  chunks: number;
  /** Those of them that have no vector yet: they are found by their words alone. */
  withoutVector: number;
  bytes: number;
  createdAt: string;
  /** When a document was last written or removed. */
  updatedAt: string;
  /** Every module with its number of chunks, in alphabetical order. */
  modules: { name: string; chunks: number }[];
}

/** What the store keeps of a document besides its chunks. */
export interface DocumentRecord {
  /** Where this machine read it from; identifies it within the collection. */
  uri: string;
  /** What is cited, the same on every machine: its address on the web, or its place below what was ingested. */
  url: string;
  /** The place it was found under; pruning stays inside it. */
  root: string;
  title: string;
  module: string | null;
  chapter: string | null;
  metadata: Record<string, string>;
  /** SHA-256 of its bytes. */
  contentHash: string;
  /** Everything else that decides its chunks: chunker version, base URL and the like. */
  fingerprint: string;
}

/** What the store keeps of a chunk. */
export interface ChunkRecord extends Omit<Chunk, 'embedded' | 'end'> {
  /** A UUID made of the document's url and the chunk's index: the same on every machine. */
  chunkId: string;
  /** Null as long as it is not embedded. */
  vector: Float32Array | null;
}

/** A chunk that is still to be embedded. */
export type UnembeddedChunk = Pick<ChunkRecord, 'chunkId' | 'contentHash' | 'tokenCount'>;

export interface DocumentWrite {
  document: DocumentRecord;
  chunks: ChunkRecord[];
  /** The URI of a document that this one takes the place of, when it was renamed. */
  replaces?: string;
}

/** A chunk as the store gives it back, with what is cited of its document. */
export type StoredChunk = Omit<RetrievedChunk, 'score' | 'rank'>;

export interface StoreSearch {
  /** Searched for in the full text; null leaves that part out. */
  text: string | null;
  /** Searched for among the vectors; null leaves that part out. */
  vector: Float32Array | null;
  /** The cosine from which on vectors are alike at all; 0 unless given. */
  baseline?: number;
  limit: number;
  filter: Filter;
}

export interface StoreHit {
  chunk: StoredChunk;
  /** Similarity to the query in 0..1. */
  score: number;
  /** What the order is made of: higher comes first. */
  fusedScore: number;
  /** Its place in the full-text results from 1, and its share of the query's terms in 0..1. */
  lexical: { rank: number; score: number } | null;
  /** Its place among the vectors from 1, and its cosine similarity counted from the baseline on; null if it has no vector yet. */
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
  /** All documents, ordered by URI. */
  documents(): AsyncIterable<DocumentRecord>;
  /** Whole documents as `write` takes them, in the order asked for; unknown URIs are left out. */
  read(uris: readonly string[]): Promise<DocumentWrite[]>;
  /** The vectors the collection already has for these content hashes. */
  vectors(contentHashes: readonly string[]): Promise<Map<string, Float32Array>>;
  /** The chunks that have no vector yet, in the order they were written. */
  unembedded(): Promise<UnembeddedChunk[]>;
  /** How many those are; next to nothing to find out where there are none. */
  withoutVector(): Promise<number>;
  /** Gives vectors to the chunks without one that have these content hashes; once it resolves they survive a crash. */
  addVectors(vectors: ReadonlyMap<string, Float32Array>): Promise<void>;
  /** Adds or replaces documents, each whole or not at all; once it resolves they survive a crash. */
  write(documents: readonly DocumentWrite[]): Promise<void>;
  /** Removes documents; unknown URIs are ignored. */
  remove(uris: readonly string[]): Promise<void>;
  /** Hits in order, best first. */
  search(request: StoreSearch): Promise<StoreHit[]>;
  /**
   * Those of some index terms that chunks have, with how many have them; for very many terms it may be a rough number.
   * Left out by stores that cannot tell.
   */
  containing?(terms: readonly string[]): Promise<Map<string, number>>;
  /** The number of chunks that pass a filter. A document that is being replaced may count twice. */
  count(filter: Filter): Promise<number>;
  /** Chunks by id, in the order asked for; unknown ids are left out. */
  chunks(chunkIds: readonly string[]): Promise<StoredChunk[]>;
  /**
   * The chunks that have these content hashes, ordered by address and then as they are read; a store that does not
   * know its chunks by them has none.
   */
  withContent(contentHashes: readonly string[]): Promise<StoredChunk[]>;
  /** The chunks of the same document around one, itself included, in reading order. */
  neighbours(chunkId: string, before: number, after: number): Promise<StoredChunk[]>;
  /** Tidies up after many writes; safe to skip. */
  settle(): Promise<void>;
  /** What is wrong with the collection's data, one sentence each; empty if it is sound. */
  check(): Promise<string[]>;
  close(): Promise<void>;
}

/** Where collections live. */
export interface CollectionCatalog {
  /** The names, in alphabetical order. */
  list(): Promise<string[]>;
  /** Null if there is no such collection. */
  open(name: string): Promise<ChunkStore | null>;
  /** Opens it, making it first if need be. Throws `configuration_error` if it was made with another embedder. */
  openOrCreate(name: string, identity: CollectionIdentity): Promise<ChunkStore>;
  /** False if there was none. */
  delete(name: string): Promise<boolean>;
}
