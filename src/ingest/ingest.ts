import { createHash } from 'node:crypto';
import { createChunkId, type RawDocument } from '../domain/document.ts';
import { relativeAddress } from '../domain/source-address.ts';
import { type Advice, formatPlainAdvice } from '../faults/advice.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import type { ChunkStore, DocumentRecord, DocumentWrite } from '../ports/chunk-store.ts';
import type { DocumentParser, DocumentSource, SourceEntry } from '../ports/document-source.ts';
import type { Embedder } from '../ports/embedder.ts';
import { CHUNKER_VERSION, chunkDocument } from './chunk-document.ts';
import { describeDocument } from './describe-document.ts';
import { createDocumentPlaces } from './document-places.ts';
import { type EmbeddingDependencies, type EmbeddingProgress, embedChunks } from './embed-chunks.ts';
import { loadKnownDocuments } from './known-documents.ts';

/** Chunks per write: enough to be fast, few enough to be searchable soon. */
const WRITE_CHUNKS = 256;
/** Documents read and parsed before they are needed: enough to keep the parser busy, few enough for the memory. */
const READ_AHEAD = 8;

/** The part of a collection that an ingest uses. */
export type IngestedStore = Pick<
  ChunkStore,
  'documents' | 'vectors' | 'write' | 'remove' | 'settle' | 'unembedded' | 'chunks' | 'addVectors' | 'damaged'
>;

interface IngestDependencies extends EmbeddingDependencies {
  store: IngestedStore;
  parse: DocumentParser;
  /** Whether a document still exists at this URI; true if that is not known. */
  stillExists: (uri: string) => Promise<boolean>;
}

export interface IngestOptions {
  /** The URL where the documents are published; otherwise their places are cited. */
  baseUrl?: string | undefined;
  /** Overrides the module in the front matter. */
  module?: string | undefined;
  /** Remove documents that the sources no longer have, or that are ignored now. */
  prune: boolean;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: IngestProgress) => void) | undefined;
  /** Formats the hint of a failure; as plain text unless given. */
  formatAdvice?: (advice: Advice) => string;
}

export interface IngestProgress {
  documents: number;
  /** Null if the sources do not know it yet. */
  totalDocuments: number | null;
  /** The path of the document that is being read. */
  reading: string | null;
  /** Null until all documents are written and embedding starts. */
  embedding: EmbeddingProgress | null;
}

export interface IngestSummary {
  added: number;
  changed: number;
  renamed: number;
  unchanged: number;
  removed: number;
  /** Documents that the sources no longer have and pruning would remove, as paths below their root. */
  gone: string[];
  /** Documents without text to read, which are not stored, as paths below their root. */
  empty: string[];
  failed: { uri: string; message: string; hint: string | null }[];
  /** Chunks written. */
  chunks: number;
  /** Chunks embedded, including those that an earlier run left without a vector. */
  embeddedChunks: number;
}

/**
 * Brings a collection up to date with its sources: first the words of all documents, then the vectors of new chunks.
 * Both are committed in batches, so the collection can be searched meanwhile and an interrupted run is continued by the
 * next. A document that cannot be read is reported; its earlier version stays.
 */
export async function ingestSources(
  sources: readonly DocumentSource[],
  { store, parse, embedder, hasWords, stillExists }: IngestDependencies,
  options: IngestOptions,
): Promise<IngestSummary> {
  const { signal } = options;
  const summary: IngestSummary = {
    added: 0,
    changed: 0,
    renamed: 0,
    unchanged: 0,
    removed: 0,
    gone: [],
    empty: [],
    failed: [],
    chunks: 0,
    embeddedChunks: 0,
  };
  const known = await loadKnownDocuments(store, stillExists);
  const damaged = new Set(await store.damaged?.());
  const roots = sources.flatMap(({ root }) => root ?? []);
  const places = createDocumentPlaces(known.all(), stillExists, roots);
  const seen = new Set<string>();
  let pending: { write: DocumentWrite; change: 'added' | 'changed' | 'renamed' }[] = [];
  let embedderError: unknown;
  let reading: string | null = null;
  let embedding: EmbeddingProgress | null = null;

  for (const source of sources) {
    for await (const { uri, parsed } of parseAhead(unseen(source.entries(signal)))) {
      signal?.throwIfAborted();
      await prepare(uri, parsed);
      if (countChunks(pending) >= WRITE_CHUNKS) await writePending();
      report();
    }
  }
  await writePending();
  const missing = [...known.all()].filter(isMissing);
  if (options.prune) await prune(missing);
  else summary.gone = missing.map(({ root, uri }) => decodeURI(relativeAddress(root, uri)));
  await embedChunks(store, { embedder, hasWords }, signal, (progress) => {
    embedding = progress;
    summary.embeddedChunks = progress.chunks;
    report();
  });
  await store.settle();
  return summary;

  /** Skips documents that an earlier source has listed. */
  async function* unseen(entries: AsyncIterable<SourceEntry>): AsyncGenerator<SourceEntry> {
    for await (const entry of entries) {
      if (seen.has(entry.uri)) continue;
      seen.add(entry.uri);
      yield entry;
    }
  }

  /** Yields documents in order while the next ones are already being read and, one after the other, parsed. */
  async function* parseAhead(entries: AsyncIterable<SourceEntry>) {
    const started: { uri: string; parsed: ReturnType<typeof parseChanged> }[] = [];
    let last: Promise<unknown> = Promise.resolve();
    for await (const entry of entries) {
      const raw = entry.read(signal);
      // The consumer handles rejections; until then they must not count as unhandled.
      raw.catch(() => {});
      const parsed = last.then(() => parseChanged(entry, raw));
      last = parsed.catch(() => {});
      started.push({ uri: entry.uri, parsed });
      if (started.length >= READ_AHEAD) yield started.shift() as (typeof started)[number];
    }
    yield* started;
  }

  /** Null if the document is unchanged. */
  async function parseChanged(found: SourceEntry, content: Promise<RawDocument>) {
    signal?.throwIfAborted();
    // A base URL is meant for paths below the root that was given.
    const entry = options.baseUrl === undefined ? await places.place(found) : { ...found, place: found.uri };
    const raw = await content;
    const contentHash = hashContent(raw);
    const fingerprint = createFingerprint(entry, options);
    const before = known.at(entry.uri);
    const isSame = before?.contentHash === contentHash && before.fingerprint === fingerprint;
    if (isSame && !damaged.has(entry.uri)) return null;
    reading = entry.relativePath;
    report();
    const parsed = await parse(raw, signal);
    const document: DocumentRecord = {
      ...describeDocument(entry, parsed, options),
      uri: entry.uri,
      root: entry.root,
      metadata: parsed.metadata,
      contentHash,
      fingerprint,
    };
    return { parsed, document };
  }

  /** Chunks a document and adds it to `pending`, unless it is unchanged. Records failures in the summary. */
  async function prepare(uri: string, parsing: ReturnType<typeof parseChanged>): Promise<void> {
    try {
      const changed = await parsing;
      if (changed === null) {
        summary.unchanged += 1;
        return;
      }
      const { parsed, document } = changed;
      const { maxTokens, countTokens } = await loadEmbedder();
      const chunking = { title: document.title, maxTokens, countTokens };
      const chunks = await chunkDocument(parsed, chunking, signal);
      const isKnown = known.at(uri) !== undefined;
      if (chunks.length === 0 && !isKnown) {
        summary.empty.push(decodeURI(relativeAddress(document.root, uri)));
        return;
      }
      const replaces = await known.findPredecessor(document);
      known.remember(document, replaces);
      const change = isKnown ? 'changed' : replaces !== undefined ? 'renamed' : 'added';
      const records = chunks.map(({ embedded: _, end: __, ...chunk }) => ({
        ...chunk,
        chunkId: createChunkId(document.url, chunk.chunkIndex),
        vector: null,
        words: null,
      }));
      const write = { document, chunks: records, ...(replaces !== undefined && { replaces }) };
      pending.push({ change, write });
    } catch (error) {
      signal?.throwIfAborted();
      if (error === embedderError || affectsAllDocuments(error)) throw error;
      const { formatAdvice = formatPlainAdvice } = options;
      const hint = error instanceof AppError && error.advice ? formatAdvice(error.advice) : null;
      summary.failed.push({ uri, message: messageOf(error), hint });
    }
  }

  /** An embedder that cannot be loaded concerns every document, whatever the kind of error. */
  function loadEmbedder(): Promise<Embedder> {
    return embedder().catch((error: unknown) => {
      embedderError = error;
      throw error;
    });
  }

  /** Writes documents with the vectors that the collection already has for their content. */
  async function writePending(): Promise<void> {
    const documents = pending;
    pending = [];
    if (documents.length === 0) return;
    const hashes = documents.flatMap(({ write }) => write.chunks.map(({ contentHash }) => contentHash));
    const vectors = await store.vectors([...new Set(hashes)]);
    await store.write(
      documents.map(({ write }) => ({
        ...write,
        chunks: write.chunks.map((chunk) => ({ ...chunk, ...vectors.get(chunk.contentHash) })),
      })),
    );
    for (const { change } of documents) summary[change] += 1;
    summary.chunks += countChunks(documents);
    report();
  }

  /** Whether the sources cover the document's place but no longer have it. */
  function isMissing(document: { uri: string; root: string }): boolean {
    if (seen.has(document.uri)) return false;
    return places.isReplaced(document.root) || sources.some((source) => source.covers(document));
  }

  async function prune(gone: readonly { uri: string }[]): Promise<void> {
    const removed = new Set(gone.map(({ uri }) => uri));
    for (const { uri } of known.all()) {
      if (seen.has(uri)) continue;
      for (const source of sources) if (await source.ignores?.({ uri })) removed.add(uri);
    }
    await store.remove([...removed]);
    summary.removed = removed.size;
  }

  function report(): void {
    const totals = sources.map((source) => source.total);
    options.onProgress?.({
      documents:
        summary.added + summary.changed + summary.renamed + summary.unchanged + summary.failed.length,
      totalDocuments: totals.reduce<number | null>(
        (sum, total) => (sum === null || total === null ? null : sum + total),
        0,
      ),
      reading: embedding === null ? reading : null,
      embedding,
    });
  }
}

/** The hash of a document and the files that it includes. */
function hashContent({ bytes, included = {} }: RawDocument): string {
  const hash = createHash('sha256').update(bytes);
  for (const [path, file] of Object.entries(included)) hash.update(`\n${path}\n`).update(file);
  return hash.digest('hex');
}

function countChunks(documents: readonly { write: DocumentWrite }[]): number {
  return documents.reduce((sum, { write }) => sum + write.chunks.length, 0);
}

/** Everything besides a document's bytes that decides what is stored of it. */
function createFingerprint(
  { uri, place, relativePath }: Pick<SourceEntry, 'uri' | 'relativePath'> & { place: string },
  { baseUrl, module }: IngestOptions,
): string {
  const ownPlace = place === uri ? [] : [place];
  return JSON.stringify([CHUNKER_VERSION, relativePath, baseUrl ?? null, module ?? null, ...ownPlace]);
}

/** Errors of the store and the embedder. */
function affectsAllDocuments(error: unknown): boolean {
  return error instanceof AppError && error.kind !== 'invalid_input' && error.kind !== 'api_error';
}
