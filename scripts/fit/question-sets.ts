import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MINILM_IDENTITY } from '../../bench/support/load-embedder.ts';
import { createDocumentParser } from '../../src/adapters/documents/parse-document.ts';
import { documentFileExists } from '../../src/adapters/files/file-source.ts';
import { toStandaloneQuery } from '../../src/adapters/offline/standalone-query.ts';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { createDocumentSource } from '../../src/app/index-documents.ts';
import { ingestSources } from '../../src/ingest/ingest.ts';
import type { JudgedPassage } from '../../src/judge/facts/evidence.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import { createRetriever } from '../../src/retrieval/create-retriever.ts';
import { CACHE } from './feature-cache.ts';

/** A question about documentation. A right answer matches all `gold` patterns and no `wrong` one. */
export interface DocumentQuestion {
  id: string;
  kind: string;
  history: string[];
  question: string;
  gold: string[];
  wrong: string[];
}

/** A question with its search results. */
export interface SearchedQuestion extends DocumentQuestion {
  set: string;
  query: string;
  found: (JudgedPassage & { score: number })[];
}

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url));
/** The number of passages that the offline model searches for. */
const TOP_K = 8;

/** The names of the question sets in the repository. */
export function questionSets(): string[] {
  return globSync('questions/*.jsonl', { cwd: FIXTURES })
    .map((file) => basename(file, '.jsonl'))
    .sort();
}

export function readQuestions(path: string): DocumentQuestion[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as DocumentQuestion);
}

/** The cases of the sample book, without small talk and poisoned ones. */
export function bookQuestions(): DocumentQuestion[] {
  interface Case {
    id: string;
    question: string;
    answerable?: boolean;
    expectedPhrases?: string[];
    history?: { role: string; content: string }[];
    tags?: string[];
  }
  const cases = readFileSync(join(FIXTURES, 'cases', 'book.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Case);
  return cases.flatMap(({ id, question, answerable, expectedPhrases = [], history = [], tags = [] }) => {
    if (answerable === undefined || tags.some((tag) => tag === 'poisoned' || tag === 'chit-chat')) return [];
    if (answerable && expectedPhrases.length === 0) return [];
    return [
      {
        id: `book-${id}`,
        kind: answerable ? 'prose' : 'unanswerable',
        history: history.flatMap(({ role, content }) => (role === 'user' ? [content] : [])),
        question,
        gold: expectedPhrases.map((phrase) => phrase.split(/\s+/).map(RegExp.escape).join('\\s+')),
        wrong: [],
      },
    ];
  });
}

/** The directory with the documents of a set, or null if there is none. */
export function documentsOf(set: string, directory: string): string | null {
  const places = [join(directory, set, 'docs'), join(directory, set)];
  return places.find((place) => existsSync(place)) ?? null;
}

/** Searches for every question of a set. The collection is kept between runs. */
export async function searchQuestions(
  set: string,
  questions: readonly DocumentQuestion[],
  documents: string,
  embedder: Embedder,
): Promise<SearchedQuestion[]> {
  const store = await createSqliteCatalog(join(CACHE, 'collections')).openOrCreate(
    `${set}_${createHash('sha256').update(documents).digest('hex').slice(0, 8)}`,
    MINILM_IDENTITY,
  );
  const source = await createDocumentSource(documents, { files: { cwd: documents }, web: {} });
  await ingestSources(
    [source],
    { store, parse: createDocumentParser(), embedder: async () => embedder, stillExists: documentFileExists },
    { prune: true },
  );
  const retriever = createRetriever({
    store,
    embedder: async () => embedder,
    mode: 'hybrid',
    scoreThreshold: 0,
  });
  const searched: SearchedQuestion[] = [];
  for (const question of questions) {
    const query = toStandaloneQuery(question.question, question.history);
    const { context } = await retriever.retrieve({ text: query, topK: TOP_K, filter: {} });
    const found = context.chunks.map(({ text, title, headings, score }) => ({
      text,
      title,
      headings,
      score,
    }));
    searched.push({ ...question, set, query, found });
  }
  await store.close();
  return searched;
}

/** Whether a text matches all gold patterns and no wrong one. */
export function holdsAnswer({ kind, gold, wrong }: DocumentQuestion, text: string): boolean {
  if (kind === 'unanswerable') return false;
  const tidy = text
    .replace(/[\u00a0\u202f]/g, ' ')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2010\u2011]/g, '-')
    .replace(/\\\r?\n\s*/g, ' ');
  const forms = [tidy, tidy.replace(/\*\*|`+/g, '').replace(/\\([_*[\]<>])/g, '$1')];
  const matches = (pattern: string) => forms.some((form) => new RegExp(pattern, 'i').test(form));
  return gold.every(matches) && !wrong.some(matches);
}
