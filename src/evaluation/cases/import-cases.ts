import papaparse from 'papaparse';
import { parse } from 'yaml';
import * as z from 'zod';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { oneLine } from '../../text/visible-text.ts';
import { type CaseCheck, type EvaluationCase, evaluationCaseSchema } from './evaluation-case.ts';
import { parseJsonLines } from './parse-cases.ts';

interface ImportedCases {
  cases: EvaluationCase[];
  /** What no case could hold, each kind once. */
  skipped: string[];
}

const rowSchema = z.record(z.string(), z.unknown());
type Row = z.infer<typeof rowSchema>;

/**
 * Converts a file of another tool: rows as CSV, TSV, JSON or JSONL (Ragas included), or a promptfoo configuration.
 * Throws `invalid_input`.
 */
export function importCases(text: string, file: string): ImportedCases {
  const isTable = /\.(csv|tsv)$/i.test(file);
  const value = isTable ? parseCsvRows(text, file) : parseStructured(text, file);
  const promptfoo = promptfooSchema.safeParse(value);
  const rows = z.array(rowSchema).safeParse(value);
  const imported = promptfoo.success
    ? casesFromPromptfoo(promptfoo.data.tests, file)
    : casesFromRows(rows.data ?? [], file);
  if (imported.cases.length > 0) return imported;
  throw new AppError('invalid_input', `${file} contains no questions.`, {
    hint: 'Expected CSV, JSON or JSONL with a column "question", or a promptfoo file with tests.',
  });
}

function parseCsvRows(text: string, file: string): Row[] {
  const { data, errors } = papaparse.parse<Row>(text.replace(/^\ufeff/, ''), {
    header: true,
    skipEmptyLines: 'greedy',
    delimiter: /\.tsv$/i.test(file) ? '\t' : ',',
    transformHeader: (name) => name.trim(),
  });
  const error = errors.find(({ type }) => type === 'Quotes');
  if (error === undefined)
    return data.filter((row) => Object.values(row).some((cell) => String(cell).trim() !== ''));
  throw new AppError('invalid_input', `${file}, row ${(error.row ?? 0) + 1}: ${error.message}.`);
}

function parseStructured(text: string, file: string): unknown {
  if (/\.(jsonl|ndjson)$/i.test(file)) {
    const issues: string[] = [];
    const rows = parseJsonLines(text, issues).map(({ value }) => value);
    if (issues[0] !== undefined) throw new AppError('invalid_input', `${file}, ${issues[0]}.`);
    return rows;
  }
  try {
    return parse(text);
  } catch (error) {
    throw new AppError('invalid_input', `Could not parse ${file}.`, { hint: messageOf(error), cause: error });
  }
}

/** Column names of other tools, by the field of a case. */
const COLUMNS = {
  id: ['id', '_id', 'case_id'],
  question: ['question', 'user_input', 'query', 'input', 'prompt'],
  answer: ['answer', 'expectedAnswer', 'reference', 'ground_truth', 'expected', 'expected_output'],
  sources: ['sources', 'expectedSources', 'source', 'url'],
  phrases: ['phrases', 'expectedPhrases', 'keywords'],
  answerable: ['answerable'],
  tags: ['tags', 'tag', 'category', 'synthesizer_name'],
} as const;

function casesFromRows(rows: readonly Row[], file: string): ImportedCases {
  const known = new Set<string>(Object.values(COLUMNS).flat());
  const skipped = new Set<string>();
  const cases = rows.flatMap((row, index): EvaluationCase[] => {
    const textsIn = (field: keyof typeof COLUMNS) => toTexts(firstFilled(row, COLUMNS[field]));
    const listIn = (field: keyof typeof COLUMNS) => textsIn(field).flatMap(splitCell);
    for (const name of Object.keys(row)) if (!known.has(name)) skipped.add(`column ${oneLine(name, 40)}`);
    const [question] = textsIn('question');
    if (question === undefined) {
      skipped.add('rows without a question');
      return [];
    }
    const [flag = ''] = textsIn('answerable');
    const isUnanswerable = /^(false|no|0)$/i.test(flag);
    const answerable = isUnanswerable ? false : /^(true|yes|1)$/i.test(flag) || undefined;
    const answers = isUnanswerable ? [] : textsIn('answer');
    const draft = {
      id: textsIn('id')[0] ?? `row-${index + 1}`,
      question,
      expectedAnswer: answers.length === 1 ? answers[0] : filled(answers),
      expectedPhrases: filled(isUnanswerable ? [] : listIn('phrases')),
      expectedSources: filled(listIn('sources')),
      answerable,
      tags: filled(listIn('tags')),
    };
    return [toCase(draft, file, `row ${index + 1}`)];
  });
  return { cases, skipped: [...skipped] };
}

const promptfooSchema = z.object({
  tests: z.array(
    z.object({
      description: z.string().optional(),
      vars: rowSchema.optional(),
      assert: z.array(z.object({ type: z.string(), value: z.unknown().optional() })).optional(),
    }),
  ),
});
type PromptfooTest = z.infer<typeof promptfooSchema>['tests'][number];

/** The question of a promptfoo test is the variable with such a name, or its only variable. */
function casesFromPromptfoo(tests: readonly PromptfooTest[], file: string): ImportedCases {
  const skipped = new Set<string>();
  const cases = tests.flatMap(({ description, vars = {}, assert = [] }, index): EvaluationCase[] => {
    const values = Object.values(vars);
    const [question] = toTexts(
      firstFilled(vars, COLUMNS.question) ?? (values.length === 1 ? values[0] : undefined),
    );
    if (question === undefined) {
      skipped.add('tests without a variable "question"');
      return [];
    }
    const phrases: string[] = [];
    const forbidden: string[] = [];
    const answers: string[] = [];
    const checks: CaseCheck[] = [];
    for (const { type, value } of assert) {
      const texts = toTexts(value);
      const [text = ''] = texts;
      if (text === '') skipped.add(`assertions of type ${oneLine(type, 40)} without text`);
      else if (type === 'equals' || type === 'similar') answers.push(text);
      else if (type === 'contains' || type === 'icontains') checks.push({ contains: text });
      else if (type === 'contains-all' || type === 'icontains-all') phrases.push(...texts);
      else if (type === 'not-contains' || type === 'not-icontains') forbidden.push(text);
      else if (type === 'regex') checks.push({ regex: text });
      else if (type === 'llm-rubric' || type === 'model-graded-closedqa') checks.push({ rubric: text });
      else skipped.add(`assertions of type ${oneLine(type, 40)}`);
    }
    const draft = {
      id: `test-${index + 1}`,
      question,
      expectedPhrases: filled(phrases),
      forbiddenPhrases: filled(forbidden),
      expectedAnswer: filled(answers),
      checks: filled(checks),
      note: description,
    };
    return [toCase(draft, file, `test ${index + 1}`)];
  });
  return { cases, skipped: [...skipped] };
}

function toCase(draft: Record<string, unknown>, file: string, place: string): EvaluationCase {
  const given = Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined));
  const result = evaluationCaseSchema.safeParse(given);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue?.path.map(String).join('.');
  throw new AppError('invalid_input', `${file}, ${place}: ${field}: ${issue?.message}.`);
}

function filled<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

function firstFilled(row: Row, names: readonly string[]): unknown {
  return names.map((name) => row[name]).find((value) => value != null && value !== '');
}

function toTexts(value: unknown): string[] {
  return [value]
    .flat()
    .flatMap((part) =>
      ['string', 'number', 'boolean'].includes(typeof part) ? String(part).trim() || [] : [],
    );
}

/** A cell may list several values, separated by a semicolon or a bar. */
function splitCell(text: string): string[] {
  return text.split(/[;|]/).flatMap((part) => part.trim() || []);
}
