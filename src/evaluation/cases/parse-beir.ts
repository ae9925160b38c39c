import { createHash } from 'node:crypto';
import * as z from 'zod';
import { AppError } from '../../faults/app-error.ts';
import { type EvaluationCase, evaluationCaseSchema } from './evaluation-case.ts';
import { parseJsonLines, validateRows } from './parse-cases.ts';

const MAX_NAME_LENGTH = 80;

const idSchema = z.union([z.string().min(1), z.number()]).transform(String);
const corpusRowSchema = z.object({ _id: idSchema, title: z.string().nullish(), text: z.string() });
const queryRowSchema = z.object({ _id: idSchema, text: z.string().trim().min(1) });

/** A file name for a document of the corpus. Ids can be any text, so others than plain names get a hash. */
export function toCorpusFileName(documentId: string): string {
  const plain = documentId.replace(/[^\w.-]+/g, '-');
  if (plain === documentId && plain.length <= MAX_NAME_LENGTH) return `${plain}.txt`;
  const hash = createHash('sha256').update(documentId).digest('hex').slice(0, 8);
  return `${plain.slice(-MAX_NAME_LENGTH)}-${hash}.txt`;
}

export function parseCorpus(text: string, file: string): z.infer<typeof corpusRowSchema>[] {
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

/** One case per query that has relevant documents. */
export function parseQueries(
  text: string,
  file: string,
  relevant: ReadonlyMap<string, readonly string[]>,
): EvaluationCase[] {
  const cases = parseRows(text, file, queryRowSchema).flatMap(({ _id, text: question }) => {
    const expectedSources = relevant.get(_id)?.map(toCorpusFileName);
    if (expectedSources === undefined) return [];
    return evaluationCaseSchema.parse({
      id: _id,
      question,
      expectedSources,
      answerable: true,
      needsRetrieval: true,
    });
  });
  if (cases.length > 0) return cases;
  throw new AppError('invalid_input', `No query of ${file} has a relevant document.`, {
    hint: 'Check that queries and qrels use the same query ids.',
  });
}

function parseRows<Row extends { _id: string }>(text: string, file: string, schema: z.ZodType<Row>): Row[] {
  const issues: string[] = [];
  const rows = validateRows(parseJsonLines(text, issues), schema, '_id', issues);
  if (issues.length === 0) return rows;
  throw new AppError('invalid_input', `${file}, ${issues[0]}.`, {
    hint: 'Each line is one JSON object with "_id" and "text".',
  });
}
