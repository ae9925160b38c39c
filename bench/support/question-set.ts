import { existsSync, globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createDocumentParser } from '../../src/adapters/documents/parse-document.ts';
import { documentFileExists } from '../../src/adapters/files/file-source.ts';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { createDocumentSource } from '../../src/app/index-documents.ts';
import { type IngestProgress, ingestSources } from '../../src/ingest/ingest.ts';
import type { ChunkStore } from '../../src/ports/chunk-store.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import type { Retriever } from '../../src/retrieval/create-retriever.ts';
import { openCollectionFor } from './load-embedder.ts';
import { COLLECTIONS_DIRECTORY, readJsonRows, SHARED_DATA } from './retrieval-set.ts';

/** Questions of real users about the documents in a folder. */
export interface QuestionSet {
  name: string;
  documents: string;
  questions: Question[];
}

interface Question {
  text: string;
  /** Patterns that an answering passage must all match. */
  gold: RegExp[];
  /** The files with the answer, relative to the documents. */
  files: string[];
}

/** Finds the sets of the shared data. */
export function findQuestionSets(): QuestionSet[] {
  return globSync(join(SHARED_DATA, 'questions/*.jsonl')).flatMap((file) => readQuestionSet(file) ?? []);
}

/** Reads `name.jsonl` and the folder `name`, or a folder with `questions.jsonl` and `docs`; null if they are missing. */
export function readQuestionSet(path: string): QuestionSet | null {
  const file = path.endsWith('.jsonl') ? path : join(path, 'questions.jsonl');
  const name = basename(path, '.jsonl');
  const documents = path.endsWith('.jsonl') ? join(dirname(path), name) : join(path, 'docs');
  if (!existsSync(file) || !existsSync(documents)) return null;
  const questions = readJsonRows(dirname(file), basename(file))
    // Retrieval alone cannot use a history or find a missing answer.
    .filter(({ kind, history }) => kind !== 'unanswerable' && (history as unknown[]).length === 0)
    .map(({ question, gold, files }) => ({
      text: String(question),
      gold: (gold as string[]).map((pattern) => new RegExp(pattern, 'i')),
      files: files as string[],
    }));
  return { name, documents, questions };
}

/** Updates the collection of the documents, as `citeloop ingest` does. */
export async function openQuestionCollection(
  { name, documents }: QuestionSet,
  embedder: Embedder,
  onProgress: (progress: IngestProgress) => void,
): Promise<ChunkStore> {
  const store = await openCollectionFor(createSqliteCatalog(COLLECTIONS_DIRECTORY), name, embedder);
  const source = await createDocumentSource(documents, { files: { cwd: documents }, web: {} });
  await ingestSources(
    [source],
    {
      store,
      parse: createDocumentParser(),
      embedder: async () => embedder,
      stillExists: documentFileExists,
      hasWords: true,
    },
    { prune: true, onProgress },
  );
  return store;
}

const DEPTHS = [1, 2, 5, 20] as const;
export const FOUND_COLUMNS = [...DEPTHS.map((depth) => `top ${depth}`), 'file in top 5'];

/** Counts the questions with an answering passage in the top results, and with one of the right file in the top 5. */
export async function countFoundAnswers(
  { questions }: QuestionSet,
  retriever: Pick<Retriever, 'retrieve'>,
): Promise<number[]> {
  const counts = FOUND_COLUMNS.map(() => 0);
  const count = (column: number, isFound: boolean) => {
    if (isFound) counts[column] = (counts[column] ?? 0) + 1;
  };
  for (const { text, gold, files } of questions) {
    const { hits } = await retriever.retrieve({ text, topK: DEPTHS.at(-1) ?? 1, filter: {} });
    const rank = hits.findIndex(({ chunk }) => isAnswer(chunk.text, gold));
    DEPTHS.forEach((depth, column) => {
      count(column, rank >= 0 && rank < depth);
    });
    const top = hits.slice(0, 5);
    count(
      DEPTHS.length,
      top.some(({ chunk }) => files.some((file) => chunk.url.endsWith(file))),
    );
  }
  return counts;
}

/** Patterns may match the passage with or without its Markdown markup. */
function isAnswer(passage: string, gold: readonly RegExp[]): boolean {
  const normalized = passage
    .replace(/[\u00a0\u202f]/g, ' ')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2010\u2011]/g, '-')
    .replace(/\\\r?\n\s*/g, ' ');
  const plain = normalized.replace(/\*\*|`+/g, '').replace(/\\([_*[\]<>])/g, '$1');
  return gold.every((pattern) => pattern.test(normalized) || pattern.test(plain));
}
