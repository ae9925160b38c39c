import { createHash } from 'node:crypto';
import * as z from 'zod';
import { AppError } from '../../faults/app-error.ts';
import {
  type EvaluationCase,
  evaluationCaseSchema,
  type HistoryMessage,
  historyMessageSchema,
} from './evaluation-case.ts';
import { parseJsonLines, validateRows } from './parse-cases.ts';

const MAX_NAME_LENGTH = 80;

const idSchema = z.union([z.string().min(1), z.number()]).transform(String);
const corpusRowSchema = z.object({
  _id: idSchema,
  title: z.string().nullish(),
  text: z.string(),
});
export type CorpusDocument = z.infer<typeof corpusRowSchema>;

/** Besides BEIR's two fields: history, answer and answerability, as multi-turn sets have them. */
const queryRowSchema = z.object({
  _id: idSchema,
  text: z.string().trim().min(1),
  history: z.array(z.object(historyMessageSchema.shape)).nullish(),
  answer: z.string().nullish(),
  answerable: z.boolean().nullish(),
  answerability: z.string().nullish(),
});
type QueryRow = z.infer<typeof queryRowSchema>;

/** A file name for a document of the corpus. Ids can be any text, so others than plain names get a hash. */
export function toCorpusFileName(documentId: string): string {
  const plain = documentId.replace(/[^\w.-]+/g, '-');
  if (plain === documentId && plain.length <= MAX_NAME_LENGTH) return `${plain}.txt`;
  const hash = createHash('sha256').update(documentId).digest('hex').slice(0, 8);
  return `${plain.slice(-MAX_NAME_LENGTH)}-${hash}.txt`;
}

export function parseCorpus(text: string, file: string): CorpusDocument[] {
  return parseRows(text, file, corpusRowSchema);
}

/** The relevant documents of each query, from tab-separated lines of query, document and score. */
export function parseQrels(text: string, file: string): Map<string, string[]> {
  const relevant = new Map<string, string[]>();
  text.split(/\r?\n/).forEach((line, index) => {
    if (line.trim() === '' || (index === 0 && /^query[-_]?id\b/i.test(line))) return;
    const [query = '', document = '', score = ''] = line.split('\t');
    if (query === '' || document === '' || score.trim() === '' || !Number.isFinite(Number(score))) {
      throw new AppError('invalid_input', `${file}, line ${index + 1}: expected query, document and score.`, {
        hint: 'Separate the three fields by tabs.',
      });
    }
    if (Number(score) > 0) relevant.set(query, [...(relevant.get(query) ?? []), document]);
  });
  return relevant;
}

/** One case per query that has relevant documents or states whether it is answerable. */
export function parseQueries(
  text: string,
  file: string,
  relevant: ReadonlyMap<string, readonly string[]>,
): EvaluationCase[] {
  const cases = parseRows(text, file, queryRowSchema).flatMap((row) => {
    const found = toBeirCase(row, relevant.get(row._id) ?? []);
    return found === null ? [] : [evaluationCaseSchema.parse(found)];
  });
  if (cases.length > 0) return cases;
  throw new AppError('invalid_input', `No query of ${file} has a relevant document.`, {
    hint: 'Check that queries and qrels use the same query ids.',
  });
}

function toBeirCase(row: QueryRow, documents: readonly string[]): EvaluationCase | null {
  if (row.answerable == null && documents.length === 0) return null;
  const answerable = row.answerable ?? true;
  const history = completeExchanges(row.history ?? []);
  const asked = { id: row._id, question: row.text, ...(history.length > 0 && { history }) };
  if (row.answerability === 'CONVERSATIONAL') return { ...asked, needsRetrieval: false };
  return {
    ...asked,
    ...(documents.length > 0 && answerable && { expectedSources: documents.map(toCorpusFileName) }),
    ...(row.answer?.trim() && answerable && { expectedAnswer: row.answer }),
    answerable,
    needsRetrieval: true,
  };
}

/** User and assistant alternating, from the first user message to the last assistant one; other messages are dropped. */
function completeExchanges(history: readonly HistoryMessage[]): HistoryMessage[] {
  const kept: HistoryMessage[] = [];
  for (const message of history) {
    if (message.role === (kept.length % 2 === 0 ? 'user' : 'assistant')) kept.push(message);
  }
  return kept.length % 2 === 1 ? kept.slice(0, -1) : kept;
}

function parseRows<Row extends { _id: string }>(text: string, file: string, schema: z.ZodType<Row>): Row[] {
  const issues: string[] = [];
  const rows = validateRows(parseJsonLines(text, issues), schema, '_id', issues);
  if (issues.length === 0) return rows;
  throw new AppError('invalid_input', `${file}, ${issues[0]}.`, {
    hint: 'Each line is one JSON object with "_id" and "text".',
  });
}
