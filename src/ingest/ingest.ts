import { createHash } from 'node:crypto';
import type { RawDocument } from '../domain/document.ts';
import { placeBelow } from '../domain/place.ts';
import { type Advice, plainly } from '../faults/advice.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import type { ChunkStore, DocumentRecord } from '../ports/chunk-store.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { DocumentParser, DocumentSource, SourceEntry } from '../ports/loader.ts';
import { CHUNKER_VERSION, chunkDocument } from './chunk-document.ts';
import { type DescribeOptions, describeDocument } from './describe-document.ts';
import { type ChunkedDocument, createDocumentBatch } from './document-batch.ts';
import { createDocumentPlaces } from './document-places.ts';
import { type EmbeddingProgress, embedChunks } from './embed-chunks.ts';
import { createKnownDocuments } from './known-documents.ts';
import { mixedPlaces } from './mixed-places.ts';

/** What an ingest asks of a collection. */
export type IngestedStore = Pick<
  ChunkStore,
  'documents' | 'vectors' | 'write' | 'remove' | 'settle' | 'unembedded' | 'chunks' | 'addVectors'
>;

interface IngestDependencies {
  store: IngestedStore;
  parse: DocumentParser;
  /** Asked for only when there is something to embed. */
  embedder: () => Promise<Embedder>;
  /** Whether there is still a document at this URI, as far as that can be told; if in doubt, yes. */
  stillExists: (uri: string) => Promise<boolean>;
}

export interface IngestOptions extends DescribeOptions {
  /** Remove documents that the sources no longer have, or that are ignored by now. */
  prune: boolean;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: IngestProgress) => void) | undefined;
  /** How the summary says what can be done about a failure; plainly unless given. */
  wordAdvice?: (advice: Advice) => string;
}

export interface IngestProgress {
  documents: number;
  /** Null if the sources do not know yet. */
  totalDocuments: number | null;
  /** The path of the document that is being read. */
  reading: string | null;
  /** How far the embedding is, which begins when all documents can be found by their words; null until then. */
  embedding: EmbeddingProgress | null;
}

interface IngestFailure {
  uri: string;
  message: string;
  hint: string | null;
}

export interface IngestSummary {
  added: number;
  changed: number;
  renamed: number;
  unchanged: number;
  removed: number;
  /** What the sources no longer have and pruning would forget, each by its path below what was ingested. */
  gone: string[];
  /** The places that the collection's documents are from, if this run brought the first of one beside others; else none. */
  mixed: string[];
  failed: IngestFailure[];
  /** Chunks written. */
  chunks: number;
  /** Chunks that the embedder had to see: not those whose content was known, but also those that an earlier run left. */
  embeddedChunks: number;
}

type Change = 'added' | 'changed' | 'renamed';

/**
 * Brings a collection up to date with its sources: first the words of all documents, which takes seconds, then the
 * vectors of what is new. Both are committed as they are done, so that it can be searched meanwhile, an interrupted run
 * leaves a usable collection, and the next one goes on from there. A document that cannot be read is reported and does
 * not stop the others; its earlier version stays.
 */
export async function ingest(
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
  const known = await createKnownDocuments(store, stillExists);
  const places = createDocumentPlaces(known.all(), stillExists);
  const rootsBefore = Array.from(known.all(), ({ root }) => root);
  const seen = new Set<string>();
  let embedderFault: unknown;
  let underWay: string | null = null;
  let embedding: EmbeddingProgress | null = null;
  const batch = createDocumentBatch<ChunkedDocument & { change: Change }>(store, (documents) => {
    for (const { change, chunks } of documents) {
      summary[change] += 1;
      summary.chunks += chunks.length;
    }
    report();
  });

  for (const source of sources) {
    for await (const { entry, raw } of readAhead(unseen(source.entries(signal)), signal)) {
      signal?.throwIfAborted();
      const document = await prepare(entry, raw);
      if (document !== null) await batch.add(document);
      report();
    }
  }
  await batch.flush();
  const gone = [...known.all()].filter(isGone);
  if (options.prune) await prune(gone);
  else summary.gone = gone.map(({ root, uri }) => decodeURI(placeBelow(root, uri)));
  const forgotten = new Set<unknown>(gone);
  const left = [...known.all()].filter((document) => !forgotten.has(document));
  const rootsNow = left.map(({ root }) => root);
  summary.mixed = mixedPlaces(rootsBefore, rootsNow);
  await embedChunks(store, embedder, {
    signal,
    onProgress(progress) {
      embedding = progress;
      summary.embeddedChunks = progress.chunks;
      report();
    },
  });
  await store.settle();
  return summary;

  /** One that cannot be had concerns every document, whatever kind of fault it is. */
  function loadedEmbedder(): Promise<Embedder> {
    return embedder().catch((error: unknown) => {
      embedderFault = error;
      throw error;
    });
  }

  /** A document that several sources find is taken once. */
  async function* unseen(entries: AsyncIterable<SourceEntry>): AsyncGenerator<SourceEntry> {
    for await (const entry of entries) {
      if (seen.has(entry.uri)) continue;
      seen.add(entry.uri);
      yield entry;
    }
  }

  /** Reads and chunks a document; null if there is nothing to do or nothing that can be done. */
  async function prepare(
    found: SourceEntry,
    reading: Promise<RawDocument>,
  ): Promise<(ChunkedDocument & { change: Change }) | null> {
    try {
      // A person who says where the documents are published means them from the root that was named.
      const entry =
        options.baseUrl === undefined ? await places.place(found) : { ...found, place: found.uri };
      const raw = await reading;
      const contentHash = createHash('sha256').update(raw.bytes).digest('hex');
      const fingerprint = fingerprintOf(entry, options);
      const before = known.at(entry.uri);
      if (before?.contentHash === contentHash && before.fingerprint === fingerprint) {
        summary.unchanged += 1;
        return null;
      }
      const { maxTokens, countTokens } = await loadedEmbedder();
      underWay = entry.relativePath;
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
      const replaces = await known.predecessor(document);
      known.remember(document, replaces);
      const change = before !== undefined ? 'changed' : replaces !== undefined ? 'renamed' : 'added';
      return { document, chunks, change, ...(replaces !== undefined && { replaces }) };
    } catch (error) {
      signal?.throwIfAborted();
      if (error === embedderFault || concernsMoreThanOneDocument(error)) throw error;
      const { wordAdvice = plainly } = options;
      const hint = error instanceof AppError && error.advice ? wordAdvice(error.advice) : null;
      summary.failed.push({ uri: found.uri, message: messageOf(error), hint });
      return null;
    }
  }

  /** The sources looked where it was, and it is not there. */
  function isGone(document: { uri: string; root: string }): boolean {
    if (seen.has(document.uri)) return false;
    return places.isSucceeded(document.root) || sources.some((source) => source.covers(document));
  }

  async function prune(gone: readonly { uri: string }[]): Promise<void> {
    const vanished = new Set(gone.map(({ uri }) => uri));
    for (const { uri } of known.all()) {
      if (!seen.has(uri) && !vanished.has(uri) && (await isIgnored({ uri }))) vanished.add(uri);
    }
    await store.remove([...vanished]);
    summary.removed = vanished.size;
  }

  /** Still there, but not to be found any more. */
  async function isIgnored(document: { uri: string }): Promise<boolean> {
    for (const source of sources) if (await source.ignores?.(document)) return true;
    return false;
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
      reading: embedding === null ? underWay : null,
      embedding,
    });
  }
}

/** Everything besides a document's bytes that decides what is stored of it. */
function fingerprintOf(
  { uri, place, relativePath }: Pick<SourceEntry, 'uri' | 'relativePath'> & { place: string },
  { baseUrl, module }: DescribeOptions,
): string {
  const ownPlace = place === uri ? [] : [place];
  return JSON.stringify([CHUNKER_VERSION, relativePath, baseUrl ?? null, module ?? null, ...ownPlace]);
}

/** Store and embedder faults would hit every other document too. */
function concernsMoreThanOneDocument(error: unknown): boolean {
  return error instanceof AppError && error.kind !== 'invalid_input' && error.kind !== 'api_error';
}

/** Small files are read faster than one at a time; large ones must not pile up in memory. */
const READ_AHEAD = 8;

interface ReadEntry {
  entry: SourceEntry;
  /** Rejects if the document cannot be read. */
  raw: Promise<RawDocument>;
}

/** Entries in their order, with the next few being read already. */
async function* readAhead(
  entries: AsyncIterable<SourceEntry>,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReadEntry> {
  const started: ReadEntry[] = [];
  for await (const entry of entries) {
    const raw = entry.read(signal);
    // Whoever takes the entry hears of it; until then it is not an unhandled rejection.
    raw.catch(() => {});
    started.push({ entry, raw });
    if (started.length >= READ_AHEAD) yield started.shift() as ReadEntry;
  }
  yield* started;
}
