import { createHash } from 'node:crypto';
import * as z from 'zod';
import { AppError } from '../../faults/app-error.ts';
import { type EvaluationCase, evaluationCaseSchema } from './evaluation-case.ts';
import { parseJsonLines, validateRows } from './parse-cases.ts';

const MAX_NAME_LENGTH = 80;
const beirRowSchema = z.object({
  _id: z.union([z.string().min(1), z.number()]).transform(String),
  title: z.string().nullish(),
  text: z.string(),
});

/** The rows of `corpus.jsonl` or `queries.jsonl`, without blank ones. Throws `invalid_input`. */
export function parseBeirRows(text: string, file: string): z.infer<typeof beirRowSchema>[] {
  const issues: string[] = [];
  const rows = validateRows(parseJsonLines(text, issues), beirRowSchema, '_id', issues);
  if (issues[0] !== undefined) throw new AppError('invalid_input', `${file}, ${issues[0]}.`);
  return rows.filter((row) => row.text.trim() !== '');
}

/** One case per query that has relevant documents by the tab-separated qrels. Throws `invalid_input`. */
export function toBeirCases(queries: ReturnType<typeof parseBeirRows>, qrels: string): EvaluationCase[] {
  const judged = qrels.split(/\r?\n/).map((line) => line.split('\t'));
  // The heading has no number.
  const relevant = Map.groupBy(
    judged.filter(([, , score]) => Number(score) > 0),
    ([query]) => query,
  );
  const cases = queries.flatMap(({ _id: id, text: question }) => {
    const expectedSources = relevant.get(id)?.map(([, document = '']) => toCorpusFileName(document));
    const gold = { expectedSources, answerable: true, needsRetrieval: true };
    return expectedSources === undefined ? [] : evaluationCaseSchema.parse({ id, question, ...gold });
  });
  if (cases.length > 0) return cases;
  throw new AppError('invalid_input', 'No query has a relevant document.', {
    hint: 'Lines of qrels are query id, document id and score, separated by tabs.',
  });
}

/** A file name for a document of the corpus. Ids can be any text, so others than plain names get a hash. */
export function toCorpusFileName(documentId: string): string {
  const plain = documentId.replace(/[^\w.-]+/g, '-').slice(-MAX_NAME_LENGTH);
  const hash = createHash('sha256').update(documentId).digest('hex').slice(0, 8);
  return plain === documentId ? `${plain}.txt` : `${plain}-${hash}.txt`;
}
