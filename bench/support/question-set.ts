import { existsSync, globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createDocumentParser } from '../../src/adapters/documents/parse-document.ts';
import { fileStillExists } from '../../src/adapters/files/file-source.ts';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { createSource } from '../../src/app/index-documents.ts';
import { type IngestProgress, ingest } from '../../src/ingest/ingest.ts';
import type { ChunkStore } from '../../src/ports/chunk-store.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import type { Retriever } from '../../src/retrieval/create-retriever.ts';
import { openFor } from './minilm.ts';
import { COLLECTIONS, DATA, readRows } from './retrieval-set.ts';

/** Questions as people type them, on the documents in a folder. */
export interface QuestionSet {
  name: string;
  documents: string;
  questions: Question[];
}

interface Question {
  text: string;
  /** All of these are matched by a passage that answers it. */
  gold: RegExp[];
  /** Where that stands, below the documents. */
  files: string[];
}

/** Sets beside the checkout: `name.jsonl` with the folder `name`, or a folder with `questions.jsonl` and `docs`. */
export function findQuestionSets(): QuestionSet[] {
  return globSync(join(DATA, 'questions/*.jsonl')).flatMap((file) => readQuestionSet(file) ?? []);
}

/** Null if it is none. */
export function readQuestionSet(place: string): QuestionSet | null {
  const file = place.endsWith('.jsonl') ? place : join(place, 'questions.jsonl');
  const name = basename(place, '.jsonl');
  const documents = place.endsWith('.jsonl') ? join(dirname(place), name) : join(place, 'docs');
  if (!existsSync(file) || !existsSync(documents)) return null;
  const questions = readRows(dirname(file), basename(file))
    // What was said before is for who rewrites questions, and what has no answer is found nowhere.
    .filter(({ kind, history }) => kind !== 'unanswerable' && (history as unknown[]).length === 0)
    .map(({ question, gold, files }) => ({
      text: String(question),
      gold: (gold as string[]).map((pattern) => new RegExp(pattern, 'i')),
      files: files as string[],
    }));
  return { name, documents, questions };
}

/** Brings the collection of the documents up to date, as `ingest` would. */
export async function openDocuments(
  { name, documents }: QuestionSet,
  embedder: Embedder,
  onProgress: (progress: IngestProgress) => void,
): Promise<ChunkStore> {
  const store = await openFor(createSqliteCatalog(COLLECTIONS), name, embedder);
  const source = await createSource(documents, { files: { cwd: documents }, web: {} });
  await ingest(
    [source],
    { store, parse: createDocumentParser(), embedder: async () => embedder, stillExists: fileStillExists },
    { prune: true, onProgress },
  );
  return store;
}

const DEPTHS = [1, 2, 5, 20] as const;
export const FOUND_COLUMNS = [...DEPTHS.map((depth) => `in the first ${depth}`), 'file in 5'];

/** For how many questions a passage that answers is among the first so many, and one of the right file among five. */
export async function countFound(
  { questions }: QuestionSet,
  retriever: Pick<Retriever, 'retrieve'>,
): Promise<number[]> {
  const counts = FOUND_COLUMNS.map(() => 0);
  const count = (column: number, holds: boolean) => {
    if (holds) counts[column] = (counts[column] ?? 0) + 1;
  };
  for (const { text, gold, files } of questions) {
    const { hits } = await retriever.retrieve({ text, topK: DEPTHS.at(-1) ?? 1, filter: {} });
    const place = hits.findIndex(({ chunk }) => answers(chunk.text, gold));
    DEPTHS.forEach((depth, column) => {
      count(column, place >= 0 && place < depth);
    });
    const near = hits.slice(0, 5);
    count(
      DEPTHS.length,
      near.some(({ chunk }) => files.some((file) => chunk.url.endsWith(file))),
    );
  }
  return counts;
}

/** A pattern may match the passage as it is written, or without the marks of Markdown. */
function answers(passage: string, gold: readonly RegExp[]): boolean {
  const tidy = passage
    .replace(/[\u00a0\u202f]/g, ' ')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2010\u2011]/g, '-')
    .replace(/\\\r?\n\s*/g, ' ');
  const plain = tidy.replace(/\*\*|`+/g, '').replace(/\\([_*[\]<>])/g, '$1');
  return gold.every((pattern) => pattern.test(tidy) || pattern.test(plain));
}
