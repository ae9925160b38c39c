import { createHash } from 'node:crypto';
import { createChunkId, type ParsedDocument, type RawDocument } from '../domain/document.ts';
import { relativeAddress } from '../domain/source-address.ts';
import { type Advice, advice, formatPlainAdvice, settingName } from '../faults/advice.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import type { ChunkStore, DocumentRecord, DocumentWrite, UnembeddedChunk } from '../ports/chunk-store.ts';
import type { DocumentParser, DocumentSource, SourceEntry } from '../ports/document-source.ts';
import type { Embedder } from '../ports/embedder.ts';
import { CHUNKER_VERSION, chunkDocument, toEmbeddedText } from './chunk-document.ts';
import { createDocumentPlaces, findMixedRoots } from './document-places.ts';

/** Chunks per write: enough to be fast, few enough to be searchable soon. */
const WRITE_CHUNKS = 256;
/** Chunks per write of vectors: enough to be fast, few enough to lose little when interrupted. */
const WINDOW_CHUNKS = 256;
/** Reading several small files at once is faster; large ones must not fill the memory. */
const READ_AHEAD = 8;
/** Docusaurus orders files and folders by a prefix that is not part of their name: `01-intro`. */
const ORDER_PREFIX = /^\d+[-_. ]+(?=\S)/;

/** The part of a collection that an ingest uses. */
export type IngestedStore = Pick<
  ChunkStore,
  'documents' | 'vectors' | 'write' | 'remove' | 'settle' | 'unembedded' | 'chunks' | 'addVectors'
>;

interface IngestDependencies {
  store: IngestedStore;
  parse: DocumentParser;
  /** Called only when there is something to embed. */
  embedder: () => Promise<Embedder>;
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

interface EmbeddingProgress {
  chunks: number;
  totalChunks: number;
  /** The share of tokens embedded, 0 to 1: long chunks take longer. */
  share: number;
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
  /** All roots of the collection, if this run added the first document of an unrelated root; otherwise empty. */
  mixed: string[];
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
  { store, parse, embedder, stillExists }: IngestDependencies,
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
    mixed: [],
    failed: [],
    chunks: 0,
    embeddedChunks: 0,
  };
  const known = await loadKnownDocuments(store, stillExists);
  const places = createDocumentPlaces(known.all(), stillExists);
  const rootsBefore = Array.from(known.all(), ({ root }) => root);
  const seen = new Set<string>();
  let pending: { write: DocumentWrite; change: 'added' | 'changed' | 'renamed' }[] = [];
  let embedderError: unknown;
  let reading: string | null = null;
  let embedding: EmbeddingProgress | null = null;

  for (const source of sources) {
    for await (const { entry, raw } of readAhead(unseen(source.entries(signal)), signal)) {
      signal?.throwIfAborted();
      await prepare(entry, raw);
      if (countChunks(pending) >= WRITE_CHUNKS) await writePending();
      report();
    }
  }
  await writePending();
  const missing = [...known.all()].filter(isMissing);
  if (options.prune) await prune(missing);
  else summary.gone = missing.map(({ root, uri }) => decodeURI(relativeAddress(root, uri)));
  const rootsNow = [...new Set(known.all()).difference(new Set(missing))].map(({ root }) => root);
  summary.mixed = findMixedRoots(rootsBefore, rootsNow);
  await embedChunks(store, embedder, signal, (progress) => {
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

  /** Reads and chunks a document and adds it to `pending`, unless it is unchanged. Records failures in the summary. */
  async function prepare(found: SourceEntry, content: Promise<RawDocument>): Promise<void> {
    try {
      // A base URL is meant for paths below the root that was given.
      const entry =
        options.baseUrl === undefined ? await places.place(found) : { ...found, place: found.uri };
      const raw = await content;
      const contentHash = createHash('sha256').update(raw.bytes).digest('hex');
      const fingerprint = createFingerprint(entry, options);
      const before = known.at(entry.uri);
      if (before?.contentHash === contentHash && before.fingerprint === fingerprint) {
        summary.unchanged += 1;
        return;
      }
      const { maxTokens, countTokens } = await loadEmbedder();
      reading = entry.relativePath;
      report();
      const parsed = await parse(raw, signal);
      const description = describeDocument(entry, parsed, options);
      const chunks = chunkDocument(parsed, { title: description.title, maxTokens, countTokens });
      const document: DocumentRecord = {
        ...description,
        uri: entry.uri,
        root: entry.root,
        metadata: parsed.metadata,
        contentHash,
        fingerprint,
      };
      const replaces = await known.findPredecessor(document);
      known.remember(document, replaces);
      const change = before !== undefined ? 'changed' : replaces !== undefined ? 'renamed' : 'added';
      const records = chunks.map(({ embedded: _, end: __, ...chunk }) => ({
        ...chunk,
        chunkId: createChunkId(document.url, chunk.chunkIndex),
        vector: null,
      }));
      const write = { document, chunks: records, ...(replaces !== undefined && { replaces }) };
      pending.push({ change, write });
    } catch (error) {
      signal?.throwIfAborted();
      if (error === embedderError || affectsAllDocuments(error)) throw error;
      const { formatAdvice = formatPlainAdvice } = options;
      const hint = error instanceof AppError && error.advice ? formatAdvice(error.advice) : null;
      summary.failed.push({ uri: found.uri, message: messageOf(error), hint });
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
        chunks: write.chunks.map((chunk) => ({ ...chunk, vector: vectors.get(chunk.contentHash) ?? null })),
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

interface ReadEntry {
  entry: SourceEntry;
  /** Rejects if the document cannot be read. */
  raw: Promise<RawDocument>;
}

/** Yields entries in order while the next ones are already being read. */
async function* readAhead(
  entries: AsyncIterable<SourceEntry>,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReadEntry> {
  const started: ReadEntry[] = [];
  for await (const entry of entries) {
    const raw = entry.read(signal);
    // The consumer handles the rejection; until then it must not count as unhandled.
    raw.catch(() => {});
    started.push({ entry, raw });
    if (started.length >= READ_AHEAD) yield started.shift() as ReadEntry;
  }
  yield* started;
}

/** Takes the description from the front matter, or else from the path. */
function describeDocument(
  entry: Pick<SourceEntry, 'relativePath'> & { place: string },
  { title, metadata }: Pick<ParsedDocument, 'title' | 'metadata'>,
  options: IngestOptions,
) {
  const segments = entry.relativePath.split('/').map((segment) => segment.replace(ORDER_PREFIX, ''));
  const stem = (segments.pop() ?? '').replace(/\.[a-z]+$/i, '');
  return {
    url:
      options.baseUrl === undefined
        ? entry.place
        : toPublishedUrl(options.baseUrl, segments, stem, metadata.slug),
    title: title ?? (stem || entry.place),
    module: options.module ?? metadata.module ?? segments[0] ?? null,
    chapter: metadata.chapter ?? (stem || null),
  };
}

/** The slug if there is one, otherwise the path without order prefixes and extension. */
function toPublishedUrl(
  baseUrl: string,
  folders: readonly string[],
  stem: string,
  slug: string | undefined,
): string {
  const isIndex = /^(index|readme)$/i.test(stem);
  const last = slug ?? (isIndex ? '' : stem);
  const path = last.startsWith('/') ? last : [...folders, last].join('/');
  const base = new URL(baseUrl);
  const parts = path.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  base.pathname = [base.pathname.replace(/\/+$/, ''), ...parts.map(encodeURIComponent)].join('/');
  return base.href;
}

type KnownDocument = Pick<DocumentRecord, 'uri' | 'url' | 'root' | 'contentHash' | 'fingerprint'>;

/** The documents of a collection, including those of the current run. */
async function loadKnownDocuments(
  store: Pick<ChunkStore, 'documents'>,
  stillExists: (uri: string) => Promise<boolean>,
) {
  const byUri = new Map<string, KnownDocument>();
  const byUrl = new Map<string, string>();
  const byContent = new Map<string, string>();

  function remember({ uri, url, root, contentHash, fingerprint }: KnownDocument, replaces?: string): void {
    if (replaces !== undefined) byUri.delete(replaces);
    byUri.set(uri, { uri, url, root, contentHash, fingerprint });
    byUrl.set(url, uri);
    byContent.set(contentHash, uri);
  }

  for await (const document of store.documents()) remember(document);
  const fromEarlierRuns = new Set(byUri.keys());

  async function isGone(uri: string): Promise<boolean> {
    return fromEarlierRuns.has(uri) && !(await stillExists(uri));
  }

  return {
    at: (uri: string) => byUri.get(uri),
    all: (): Iterable<KnownDocument> => byUri.values(),
    remember,
    /**
     * The URI of the document that this one replaces: it had the same address or content and no longer exists. Throws
     * `invalid_input` if another existing document has the address.
     */
    async findPredecessor({ uri, url, contentHash }: KnownDocument): Promise<string | undefined> {
      const sameAddress = byUrl.get(url);
      if (sameAddress !== undefined && sameAddress !== uri) {
        if (await isGone(sameAddress)) return sameAddress;
        throw new AppError('invalid_input', `It has the same address as ${sameAddress}: ${url}.`, {
          hint: advice`Give one of them another slug, or ingest them with different ${settingName('baseUrl', 'base URLs')}.`,
        });
      }
      const sameContent = byContent.get(contentHash);
      if (byUri.has(uri) || sameContent === undefined) return undefined;
      return (await isGone(sameContent)) ? sameContent : undefined;
    },
  };
}

/** Embeds all chunks of a collection that have no vector, of this or an earlier run. An interrupted run keeps its work. */
async function embedChunks(
  store: IngestedStore,
  embedder: () => Promise<Embedder>,
  signal: AbortSignal | undefined,
  /** Called before the first batch and after each. */
  onProgress: (progress: EmbeddingProgress) => void,
): Promise<void> {
  // Equal content is embedded once.
  const waiting = [
    ...new Map((await store.unembedded()).map((chunk) => [chunk.contentHash, chunk])).values(),
  ];
  if (waiting.length === 0) return;
  signal?.throwIfAborted();
  const loaded = await embedder();
  const totalTokens = sumTokens(waiting);
  let chunks = 0;
  let tokens = 0;
  const report = () => onProgress({ chunks, totalChunks: waiting.length, share: tokens / totalTokens });

  report();
  const size = Math.max(WINDOW_CHUNKS, loaded.batchSize);
  for (let start = 0; start < waiting.length; start += size) {
    const window = waiting.slice(start, start + size);
    const vectors = new Map<string, Float32Array>();
    try {
      // Chunks of similar length are embedded together.
      const byLength = window.toSorted((a, b) => b.tokenCount - a.tokenCount);
      for (let first = 0; first < byLength.length; first += loaded.batchSize) {
        const batch = byLength.slice(first, first + loaded.batchSize);
        signal?.throwIfAborted();
        // Some may have been removed meanwhile.
        const existing = await store.chunks(batch.map(({ chunkId }) => chunkId));
        const texts = existing.map((chunk) => toEmbeddedText(chunk, loaded));
        const embedded = await loaded.embedDocuments(texts, signal);
        existing.forEach(({ contentHash }, index) => {
          vectors.set(contentHash, embedded[index] as Float32Array);
        });
        chunks += batch.length;
        tokens += sumTokens(batch);
        report();
      }
    } finally {
      await store.addVectors(vectors);
    }
  }
}

function sumTokens(chunks: readonly UnembeddedChunk[]): number {
  return chunks.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
}
