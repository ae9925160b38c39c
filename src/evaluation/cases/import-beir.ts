import { createHash } from 'node:crypto';
import * as z from 'zod';
import { AppError } from '../../faults/app-error.ts';
import { oneLine } from '../../text/visible-text.ts';
import { type EvaluationCase, evaluationCaseSchema, historyMessageSchema } from './evaluation-case.ts';

const LONGEST_NAME = 80;

export interface CorpusDocument {
  id: string;
  title: string;
  text: string;
}

const id = z.union([z.string().min(1), z.number()]).transform(String);
const corpusRow = z.object({ _id: id, title: z.string().nullish(), text: z.string() });
/** Beside BEIR's two fields: history and answerability as multi-turn sets have them. */
const queryRow = z.object({
  _id: id,
  text: z.string().trim().min(1),
  history: z.array(z.object(historyMessageSchema.shape)).nullish(),
  answer: z.union([z.string(), z.array(z.string())]).nullish(),
  answerable: z.boolean().nullish(),
  answerability: z.string().nullish(),
  multi_turn: z.string().nullish(),
  question_type: z.union([z.string(), z.array(z.string())]).nullish(),
});
type QueryRow = z.infer<typeof queryRow>;

/** What a document of the corpus is called, in its address and in the cases. Ids may be anything, addresses too. */
export function corpusFileName(documentId: string): string {
  const plain = documentId.replace(/[^\w.-]+/g, '-');
  if (plain === documentId && plain.length <= LONGEST_NAME) return `${plain}.txt`;
  const hash = createHash('sha256').update(documentId).digest('hex').slice(0, 8);
  return `${plain.slice(-LONGEST_NAME)}-${hash}.txt`;
}

export function readCorpus(text: string, file: string): CorpusDocument[] {
  return rowsOf(text, file, corpusRow).map(({ _id, title, text: body }) => ({
    id: _id,
    title: title ?? '',
    text: body,
  }));
}

/** The relevant documents of each query, from lines of query, document and score, with or without a heading. */
export function readQrels(text: string, file: string): Map<string, string[]> {
  const relevant = new Map<string, string[]>();
  text.split(/\r?\n/).forEach((line, index) => {
    if (line.trim() === '' || (index === 0 && /^query[-_]?id\b/i.test(line))) return;
    const [query = '', document = '', score = ''] = line.split('\t');
    if (query === '' || document === '' || !Number.isFinite(Number(score)) || score.trim() === '') {
      throw new AppError(
        'invalid_input',
        `${file}, line ${index + 1}: it is not query, document and score.`,
        {
          hint: 'The three are separated by tabs.',
        },
      );
    }
    if (Number(score) > 0) relevant.set(query, [...(relevant.get(query) ?? []), document]);
  });
  return relevant;
}

/** A case of every query that says something: BEIR's with relevant documents, and those of which it is said whether they are answerable. */
export function readQueries(
  text: string,
  file: string,
  relevant: ReadonlyMap<string, readonly string[]>,
): EvaluationCase[] {
  const cases = rowsOf(text, file, queryRow).flatMap((row) => {
    const found = caseOf(row, relevant.get(row._id) ?? []);
    return found === null ? [] : [evaluationCaseSchema.parse(found)];
  });
  if (cases.length > 0) return cases;
  throw new AppError('invalid_input', `No query of ${file} has a relevant document.`, {
    hint: 'Check that the ids of the queries are those of the qrels.',
  });
}

function caseOf(row: QueryRow, documents: readonly string[]): EvaluationCase | null {
  const kind = row.answerability?.toUpperCase();
  const isConversational = kind === 'CONVERSATIONAL';
  const answerable = row.answerable ?? (kind === undefined ? null : kind !== 'UNANSWERABLE');
  if (answerable === null && documents.length === 0) return null;
  const holdsAnswer = !isConversational && answerable !== false;
  const answers = [row.answer ?? []].flat().filter((answer) => answer.trim() !== '');
  const history = completeExchanges(row.history ?? []);
  const tags = [
    kind?.toLowerCase(),
    row.multi_turn === 'N/A' ? null : row.multi_turn?.toLowerCase(),
    ...[row.question_type ?? []].flat().map((type) => type.toLowerCase()),
  ];
  const given = [...new Set(tags.filter((tag): tag is string => tag != null && tag !== ''))];
  return {
    id: row._id,
    question: row.text,
    ...(history.length > 0 && { history }),
    ...(documents.length > 0 && holdsAnswer && { expectedSources: documents.map(corpusFileName) }),
    ...(answers.length > 0 && holdsAnswer && { expectedAnswer: answers.length === 1 ? answers[0] : answers }),
    ...(!isConversational && { answerable: holdsAnswer }),
    needsRetrieval: !isConversational,
    ...(given.length > 0 && { tags: given }),
  };
}

/** Whole exchanges, the user first: what does not fit the order at either end is left out. */
function completeExchanges(history: readonly { role: 'user' | 'assistant'; content: string }[]) {
  const first = history.findIndex(({ role }) => role === 'user');
  const kept: { role: 'user' | 'assistant'; content: string }[] = [];
  for (const message of first < 0 ? [] : history.slice(first)) {
    if (message.role === (kept.length % 2 === 0 ? 'user' : 'assistant')) kept.push(message);
  }
  return kept.length % 2 === 1 ? kept.slice(0, -1) : kept;
}

function rowsOf<Schema extends z.ZodType>(text: string, file: string, schema: Schema): z.infer<Schema>[] {
  const seen = new Set<string>();
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return [];
    const fault = (message: string) =>
      new AppError('invalid_input', `${file}, line ${index + 1}: ${message}.`, {
        hint: 'Each line is one JSON object with "_id" and "text".',
      });
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw fault('it is no JSON');
    }
    const result = schema.safeParse(value);
    if (!result.success) {
      const issue = result.error.issues[0];
      throw fault(`${issue?.path.map(String).join('.') || 'it'}: ${oneLine(issue?.message ?? '', 120)}`);
    }
    const { _id } = result.data as { _id: string };
    if (seen.has(_id)) throw fault(`the _id "${oneLine(_id, 60)}" is there twice`);
    seen.add(_id);
    return [result.data];
  });
}
