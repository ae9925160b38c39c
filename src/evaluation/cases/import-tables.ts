import { parse } from 'yaml';
import * as z from 'zod';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { oneLine } from '../../text/visible-text.ts';
import { type Check, type EvaluationCase, evaluationCaseSchema } from './evaluation-case.ts';

/** What a file of another tool came to. */
export interface Imported {
  cases: EvaluationCase[];
  /** What could not be carried over, each kind once. */
  left: string[];
}

/** Reads a file of questions by what it is: promptfoo's YAML, or rows as CSV, JSON or JSONL, Ragas's among them. Throws `invalid_input`. */
export function importFile(text: string, file: string): Imported {
  if (/\.(csv|tsv)$/i.test(file)) return fromRows(rowsOfCsv(text, /\.tsv$/i.test(file) ? '\t' : ','), file);
  let value: unknown;
  try {
    value = /\.(jsonl|ndjson)$/i.test(file)
      ? text
          .split(/\r?\n/)
          .filter((line) => line.trim() !== '')
          .map((line) => JSON.parse(line) as unknown)
      : parse(text);
  } catch (error) {
    throw new AppError('invalid_input', `${file} cannot be read.`, { hint: messageOf(error), cause: error });
  }
  const promptfoo = promptfooSchema.safeParse(value);
  if (promptfoo.success) return fromPromptfoo(promptfoo.data, file);
  const rows = z.union([z.array(row), z.object({ samples: z.array(row) }), z.object({ data: z.array(row) })]);
  const found = rows.safeParse(value);
  if (!found.success) {
    throw new AppError('invalid_input', `${file} holds no questions.`, {
      hint: 'It can be CSV, JSON or JSONL with a column "question", or a promptfoo file with tests.',
    });
  }
  const list = Array.isArray(found.data)
    ? found.data
    : 'samples' in found.data
      ? found.data.samples
      : found.data.data;
  return fromRows(list, file);
}

const row = z.record(z.string(), z.unknown());
type Row = z.infer<typeof row>;

/** The columns of others by the field that they are to us. */
const COLUMNS = {
  id: ['id', '_id', 'case_id'],
  question: ['question', 'user_input', 'query', 'input', 'prompt'],
  answer: [
    'answer',
    'expectedAnswer',
    'expected_answer',
    'reference',
    'ground_truth',
    'ground_truths',
    'expected',
    'expected_output',
  ],
  sources: ['expectedSources', 'sources', 'source', 'reference_sources', 'url'],
  phrases: ['expectedPhrases', 'phrases', 'keywords'],
  answerable: ['answerable'],
  tags: ['tags', 'tag', 'category', 'evolution_type', 'synthesizer_name'],
} as const;

function fromRows(rows: readonly Row[], file: string): Imported {
  const known = new Set<string>(Object.values(COLUMNS).flat());
  const left = new Set<string>();
  const cases = rows.flatMap((each, index): EvaluationCase[] => {
    const text = (field: keyof typeof COLUMNS) => textsOf(first(each, COLUMNS[field]));
    for (const name of Object.keys(each)) if (!known.has(name)) left.add(`the column ${oneLine(name, 40)}`);
    const [question] = text('question');
    if (question === undefined) {
      left.add('rows without a question');
      return [];
    }
    const answerable = /^(true|yes|1)$/i.test(text('answerable')[0] ?? '')
      ? true
      : /^(false|no|0)$/i.test(text('answerable')[0] ?? '')
        ? false
        : undefined;
    const answers = answerable === false ? [] : text('answer');
    const phrases = answerable === false ? [] : text('phrases').flatMap(listed);
    const sources = text('sources').flatMap(listed);
    const tags = text('tags').flatMap(listed);
    return [
      checked(
        {
          id: text('id')[0] ?? `row-${index + 1}`,
          question,
          ...(answers.length > 0 && { expectedAnswer: answers.length === 1 ? answers[0] : answers }),
          ...(phrases.length > 0 && { expectedPhrases: phrases }),
          ...(sources.length > 0 && { expectedSources: sources }),
          ...(answerable !== undefined && { answerable }),
          ...(tags.length > 0 && { tags }),
        },
        file,
        `row ${index + 1}`,
      ),
    ];
  });
  return { cases: notEmpty(cases, file), left: [...left] };
}

const assertion = z.object({ type: z.string(), value: z.unknown().optional() });
const promptfooTest = z.object({
  description: z.string().optional(),
  vars: z.record(z.string(), z.unknown()).optional(),
  assert: z.array(assertion).optional(),
});
const promptfooSchema = z.object({ tests: z.array(promptfooTest) });

/** The tests of a promptfoo file: the question is the variable of that name, or the only one. */
function fromPromptfoo({ tests }: z.infer<typeof promptfooSchema>, file: string): Imported {
  const left = new Set<string>();
  const cases = tests.flatMap(({ description, vars = {}, assert = [] }, index): EvaluationCase[] => {
    const values = Object.values(vars);
    const given = first(vars, COLUMNS.question) ?? (values.length === 1 ? values[0] : undefined);
    const [question] = textsOf(given);
    if (question === undefined) {
      left.add('tests without a variable "question"');
      return [];
    }
    const phrases: string[] = [];
    const forbidden: string[] = [];
    const answers: string[] = [];
    const checks: Check[] = [];
    for (const { type, value } of assert) {
      const texts = textsOf(value);
      const [text] = texts;
      if (text === undefined && type !== 'is-json')
        left.add(`assertions ${oneLine(type, 40)} without a text`);
      else if (type === 'equals' || type === 'similar') answers.push(text ?? '');
      else if (type === 'contains' || type === 'icontains') checks.push({ contains: text ?? '' });
      else if (type === 'contains-all' || type === 'icontains-all') phrases.push(...texts);
      else if (type === 'not-contains' || type === 'not-icontains') forbidden.push(text ?? '');
      else if (type === 'regex') checks.push({ regex: text ?? '' });
      else if (type === 'llm-rubric' || type === 'model-graded-closedqa') checks.push({ rubric: text ?? '' });
      else if (type === 'is-json') checks.push({ jsonSchema: row.safeParse(value).data ?? {} });
      else left.add(`assertions of type ${oneLine(type, 40)}`);
    }
    return [
      checked(
        {
          id: `test-${index + 1}`,
          question,
          ...(phrases.length > 0 && { expectedPhrases: phrases }),
          ...(forbidden.length > 0 && { forbiddenPhrases: forbidden }),
          ...(answers.length > 0 && { expectedAnswer: answers }),
          ...(checks.length > 0 && { checks }),
          ...(description !== undefined && { note: description }),
        },
        file,
        `test ${index + 1}`,
      ),
    ];
  });
  return { cases: notEmpty(cases, file), left: [...left] };
}

function checked(value: unknown, file: string, place: string): EvaluationCase {
  const result = evaluationCaseSchema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new AppError(
    'invalid_input',
    `${file}, ${place}: ${issue?.path.map(String).join('.')} ${issue?.message}.`,
  );
}

function notEmpty(cases: EvaluationCase[], file: string): EvaluationCase[] {
  if (cases.length > 0) return cases;
  throw new AppError('invalid_input', `${file} holds no questions.`);
}

function first(values: Row, names: readonly string[]): unknown {
  const name = names.find((each) => values[each] != null && values[each] !== '');
  return name === undefined ? undefined : values[name];
}

function textsOf(value: unknown): string[] {
  const parts = Array.isArray(value) ? value : [value];
  return parts.flatMap((part) =>
    typeof part === 'string' || typeof part === 'number' || typeof part === 'boolean'
      ? String(part).trim() || []
      : [],
  );
}

/** Several in one cell: apart by a semicolon or a bar. */
function listed(text: string): string[] {
  return text.split(/[;|]/).flatMap((part) => part.trim() || []);
}

/** Rows by the names in the first one; quotes may hold separators, line breaks and doubled quotes. */
export function rowsOfCsv(text: string, separator: ',' | '\t'): Row[] {
  const rows: string[][] = [[]];
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${separator}\\r\\n]*))(${separator}|\\r?\\n|$)`, 'y');
  const source = text.replace(/^\ufeff/, '');
  while (cell.lastIndex < source.length) {
    const at = cell.lastIndex;
    const [, quoted, plain = '', end = ''] = cell.exec(source) ?? [];
    if (cell.lastIndex === 0) {
      const line = source.slice(0, at).split('\n').length;
      throw new AppError('invalid_input', `Line ${line} is no CSV: a quote stands where none may.`);
    }
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end !== separator && cell.lastIndex < source.length) rows.push([]);
  }
  const [names = [], ...body] = rows;
  return body
    .filter((values) => values.some((value) => value.trim() !== ''))
    .map((values) => Object.fromEntries(names.map((name, index) => [name.trim(), values[index] ?? ''])));
}
