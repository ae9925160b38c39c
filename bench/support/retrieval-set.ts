import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { globSync } from 'tinyglobby';
import { createDocumentParser } from '../../src/adapters/documents/parse-document.ts';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { type IngestProgress, ingestSources } from '../../src/ingest/ingest.ts';
import type { ChunkStore } from '../../src/ports/chunk-store.ts';
import type { DocumentSource } from '../../src/ports/document-source.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import { formatCollectionName, openCollectionFor } from './load-embedder.ts';
import { RESULTS_DIRECTORY } from './results.ts';

/** The relevance grade of documents for one query; others are not relevant. */
export type Relevance = ReadonlyMap<string, number>;

/** Normalized discounted cumulative gain of the first `k`. */
export function ndcgAt(k: number, ranking: readonly string[], relevance: Relevance): number {
  const gains = ranking.slice(0, k).map((document) => relevance.get(document) ?? 0);
  const ideal = [...relevance.values()].sort((a, b) => b - a).slice(0, k);
  const best = discounted(ideal);
  return best === 0 ? 0 : discounted(gains) / best;
}

/** The share of the relevant documents among the first `k`. */
export function recallAt(k: number, ranking: readonly string[], relevance: Relevance): number {
  const relevant = [...relevance].filter(([, grade]) => grade > 0).map(([document]) => document);
  const first = new Set(ranking.slice(0, k));
  return relevant.length === 0
    ? 0
    : relevant.filter((document) => first.has(document)).length / relevant.length;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, index) => sum + gain / Math.log2(index + 2), 0);
}

/** Real questions with relevant passages, in a directory next to the repository. */
export const SHARED_DATA = fileURLToPath(new URL('../../../shared/data', import.meta.url));
export const COLLECTIONS_DIRECTORY = join(RESULTS_DIRECTORY, 'collections');
const ROOT = 'https://corpus.test/';

export interface RetrievalQuery {
  text: string;
  /** The question rewritten so that it does not depend on the history. */
  rewrite: string | null;
  relevance: Relevance;
}

export interface OpenRetrievalSet {
  store: ChunkStore;
  /** Only queries with an answer in the corpus. */
  queries: RetrievalQuery[];
  /** The corpus id of the document with this URL. */
  documentOf(url: string): string;
}

/** Returns the folder of a set; null if it is missing. */
export function findRetrievalSet(name: string): string | null {
  const candidates = [join(SHARED_DATA, 'retrieval', name), join(SHARED_DATA, name)];
  return candidates.find((candidate) => existsSync(join(candidate, 'corpus.jsonl'))) ?? null;
}

/**
 * Updates the collection of a set with the regular pipeline. The collection is kept between runs: after a code change the
 * corpus is chunked and indexed again, but only changed chunks are embedded. With `every` 12, only relevant documents and
 * a twelfth of the others are used.
 */
export async function openRetrievalSet(
  directory: string,
  embedder: Embedder,
  options: { fresh?: boolean; every?: number; onProgress?: (progress: IngestProgress) => void } = {},
): Promise<OpenRetrievalSet> {
  const { every = 1 } = options;
  const name = every === 1 ? basename(directory) : `${basename(directory)}-${every}`;
  const catalog = createSqliteCatalog(COLLECTIONS_DIRECTORY);
  if (options.fresh) await catalog.delete(formatCollectionName(name, embedder.id));
  const store = await openCollectionFor(catalog, name, embedder);
  const relevant = new Set([...readRelevance(directory).values()].flatMap((grades) => [...grades.keys()]));
  const corpus = readJsonRows(directory, 'corpus.jsonl').filter(
    ({ _id }, index) => index % every === 0 || relevant.has(String(_id)),
  );
  const { failed } = await ingestSources(
    [createCorpusSource(corpus)],
    {
      store,
      parse: createDocumentParser(),
      embedder: async () => embedder,
      stillExists: async () => true,
      hasWords: true,
    },
    { prune: true, module: codeVersion(), onProgress: options.onProgress },
  );
  if (failed.length > 0) console.error(`${name}: ${failed.length} documents failed: ${failed[0]?.message}`);
  return { store, ...readRetrievalSet(directory, corpus) };
}

/** Reads the queries of a corpus. */
export function readRetrievalSet(
  directory: string,
  corpus: readonly Record<string, unknown>[],
): Pick<OpenRetrievalSet, 'queries' | 'documentOf'> {
  const ids = new Map(corpus.map((document) => [corpusUri(document), String(document._id)]));
  return { queries: readQueries(directory), documentOf: (url) => ids.get(url) ?? url };
}

export function createCorpusSource(corpus: readonly Record<string, unknown>[]): DocumentSource {
  return {
    total: corpus.length,
    covers: () => true,
    async *entries() {
      for (const document of corpus) {
        const { title, text } = document;
        const uri = corpusUri(document);
        const frontMatter = title ? `---\ntitle: ${JSON.stringify(title)}\n---\n\n` : '';
        yield {
          uri,
          root: ROOT,
          relativePath: `${encodeURIComponent(String(document._id))}.md`,
          read: async () => ({ uri, mediaType: 'markdown', bytes: Buffer.from(`${frontMatter}${text}`) }),
        };
      }
    },
  };
}

function readQueries(directory: string): RetrievalQuery[] {
  const relevance = readRelevance(directory);
  return readJsonRows(directory, 'queries.jsonl').flatMap(({ _id, text, rewrite, answerable }) => {
    const relevant = relevance.get(String(_id));
    if (relevant === undefined || answerable === false) return [];
    return [{ text: String(text), rewrite: rewrite ? String(rewrite) : null, relevance: relevant }];
  });
}

/** Grades by query id and document id. */
function readRelevance(directory: string): Map<string, Map<string, number>> {
  const relevance = new Map<string, Map<string, number>>();
  for (const line of readFileSync(join(directory, 'qrels.tsv'), 'utf8').trim().split('\n').slice(1)) {
    const [query = '', document = '', grade] = line.split('\t');
    relevance.set(query, (relevance.get(query) ?? new Map()).set(document, Number(grade)));
  }
  return relevance;
}

export function readJsonRows(directory: string, file: string): Record<string, unknown>[] {
  const lines = readFileSync(join(directory, file), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

function corpusUri(document: Record<string, unknown>): string {
  return `${ROOT}${encodeURIComponent(String(document._id))}`;
}

/** A hash of the code that indexes. As the module of all documents, it forces a new index after a change. */
function codeVersion(): string {
  const cwd = fileURLToPath(new URL('../../src', import.meta.url));
  const files = globSync(['ingest/**', 'text/**', 'adapters/documents/**', 'adapters/sqlite/**'], { cwd });
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(readFileSync(join(cwd, file)));
  return hash.digest('hex').slice(0, 12);
}
