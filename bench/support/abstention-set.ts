import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDocumentParser } from '../../src/adapters/documents/parse-document.ts';
import { documentFileExists } from '../../src/adapters/files/file-source.ts';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { createDocumentSource } from '../../src/app/index-documents.ts';
import { ingestSources } from '../../src/ingest/ingest.ts';
import type { ChunkStore } from '../../src/ports/chunk-store.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import { MINILM_IDENTITY } from './load-embedder.ts';
import type { HistoryMessage } from './offline-asker.ts';
import { RESULTS_DIRECTORY } from './results.ts';
import { findRetrievalSet, openRetrievalSet } from './retrieval-set.ts';

export interface AbstentionQuestion {
  id: string;
  question: string;
  history: HistoryMessage[];
  /** The question rewritten so that it does not depend on the history. */
  rewrite: string | null;
  /** Null for small talk. */
  answerable: boolean | null;
  needsRetrieval: boolean | null;
  /** The ids of documents with the answer, as `documentOf` returns them; empty if unknown. */
  relevant: ReadonlySet<string>;
}

export interface AbstentionSet {
  name: string;
  store: ChunkStore;
  questions: AbstentionQuestion[];
  documentOf(url: string): string;
}

const FIXTURES = fileURLToPath(new URL('../../fixtures', import.meta.url));

/** Opens the cases about the sample book in `fixtures`. */
export async function openSampleBookSet(embedder: Embedder): Promise<AbstentionSet> {
  const book = join(FIXTURES, 'book');
  const store = await createSqliteCatalog(join(RESULTS_DIRECTORY, 'collections')).openOrCreate(
    'book',
    MINILM_IDENTITY,
  );
  const source = await createDocumentSource(book, { files: { cwd: book }, web: {} });
  await ingestSources(
    [source],
    {
      store,
      parse: createDocumentParser(),
      embedder: async () => embedder,
      stillExists: documentFileExists,
      hasWords: true,
    },
    { prune: true },
  );
  const questions = readRows(join(FIXTURES, 'cases', 'book.jsonl')).map(
    (row): AbstentionQuestion => ({
      ...(row as unknown as Pick<AbstentionQuestion, 'id' | 'question'>),
      history: (row.history ?? []) as HistoryMessage[],
      rewrite: null,
      answerable: (row.answerable ?? null) as boolean | null,
      needsRetrieval: (row.needsRetrieval ?? null) as boolean | null,
      relevant: new Set((row.expectedSources ?? []) as string[]),
    }),
  );
  return { name: 'book', store, questions, documentOf: (url) => url.split('/').slice(-2).join('/') };
}

/** Opens a set of the shared data; null if it is missing. For `every` see `openRetrievalSet`. */
export async function openSharedSet(
  name: string,
  embedder: Embedder,
  options: { every?: number } = {},
): Promise<AbstentionSet | null> {
  const directory = findRetrievalSet(name);
  if (directory === null || !existsSync(join(directory, 'queries.jsonl'))) return null;
  const { store, documentOf } = await openRetrievalSet(directory, embedder, options);
  const relevant = new Map<string, Set<string>>();
  for (const line of readFileSync(join(directory, 'qrels.tsv'), 'utf8').trim().split('\n').slice(1)) {
    const [query = '', document = ''] = line.split('\t');
    relevant.set(query, (relevant.get(query) ?? new Set()).add(document));
  }
  const questions = readRows(join(directory, 'queries.jsonl')).map(
    (row): AbstentionQuestion => ({
      id: String(row._id),
      question: String(row.text),
      history: (row.history ?? []) as HistoryMessage[],
      rewrite: row.rewrite ? String(row.rewrite) : null,
      answerable: row.answerability === 'CONVERSATIONAL' ? null : row.answerable !== false,
      needsRetrieval: row.answerability !== 'CONVERSATIONAL',
      relevant: relevant.get(String(row._id)) ?? new Set(),
    }),
  );
  return { name, store, questions, documentOf };
}

function readRows(path: string): Record<string, unknown>[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}
