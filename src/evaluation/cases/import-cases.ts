import papaparse from 'papaparse';
import { parse } from 'yaml';
import * as z from 'zod';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { oneLine } from '../../text/visible-text.ts';
import { type CaseCheck, type EvaluationCase, evaluationCaseSchema } from './evaluation-case.ts';
import { parseJsonLines } from './parse-cases.ts';

const rowSchema = z.record(z.string(), z.unknown());
type Row = z.infer<typeof rowSchema>;

const promptfooSchema = z.object({
  tests: z.array(
    z.object({
      description: z.string().optional(),
      vars: rowSchema.default({}),
      assert: z.array(z.object({ type: z.string(), value: z.unknown().optional() })).default([]),
    }),
  ),
});
type PromptfooTest = z.infer<typeof promptfooSchema>['tests'][number];

interface ImportedCases {
  cases: EvaluationCase[];
  skipped: string[];
  changed: string[];
}

/** Assertions of promptfoo that a case holds with another meaning. */
const CHANGED_ASSERTIONS: [types: RegExp, change: string][] = [
  [/^(equals|similar)$/, 'is an expected answer, which may be said in other words'],
  [/^(contains|contains-all|not-contains|regex)$/, 'ignores case'],
  [/^model-graded-closedqa$/, 'is a rubric'],
];

/**
 * Converts a file of another tool: rows as CSV, TSV, JSON or JSONL (Ragas included), or a promptfoo configuration.
 * `skipped` names what no case can hold, `changed` what means something else in a case, each kind once. Throws
 * `invalid_input`.
 */
export function importCases(text: string, file: string): ImportedCases {
  const value = parseFile(text, file);
  const tests = promptfooSchema.safeParse(value).data?.tests;
  const rows = z.array(rowSchema).safeParse(value).data ?? [];
  const skipped = new Set<string>();
  const changed = new Set<string>();
  const drafts =
    tests?.map((test) => draftFromPromptfoo(test, skipped, changed)) ??
    rows.map((row) => draftFromRow(row, skipped, changed));
  const kind = tests === undefined ? 'row' : 'test';
  const cases = drafts.flatMap((draft, index): EvaluationCase[] => {
    if (draft.question === undefined) {
      skipped.add(`${kind}s without a question`);
      return [];
    }
    const given = Object.entries(draft).filter(([, content]) => String(content ?? '') !== '');
    const result = evaluationCaseSchema.safeParse({
      id: `${kind}-${index + 1}`,
      ...Object.fromEntries(given),
    });
    if (result.success) return [result.data];
    const [issue] = result.error.issues;
    const problem = `${issue?.path.join('.')}: ${issue?.message}`;
    throw new AppError('invalid_input', `${file}, ${kind} ${index + 1}: ${problem}.`);
  });
  if (cases.length > 0) return { cases, skipped: [...skipped], changed: [...changed] };
  throw new AppError('invalid_input', `${file} contains no questions.`, {
    hint: 'Expected CSV, JSON or JSONL with a column "question", or a promptfoo file with tests.',
  });
}

function parseFile(text: string, file: string): unknown {
  if (/\.(csv|tsv)$/i.test(file)) {
    const { data, errors } = papaparse.parse<Record<string, string>>(text.replace(/^\ufeff/, ''), {
      header: true,
      skipEmptyLines: 'greedy',
      delimiter: /\.tsv$/i.test(file) ? '\t' : ',',
      transformHeader: (name) => name.trim(),
    });
    const error = errors.find(({ type }) => type === 'Quotes');
    if (error === undefined) return data;
    throw new AppError('invalid_input', `${file}, row ${(error.row ?? 0) + 1}: ${error.message}.`);
  }
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
const KNOWN_COLUMNS: ReadonlySet<string> = new Set(Object.values(COLUMNS).flat());

type Draft = Record<string, string | boolean | readonly unknown[] | undefined>;

function draftFromRow(row: Row, skipped: Set<string>, changed: Set<string>): Draft {
  for (const name of Object.keys(row))
    if (!KNOWN_COLUMNS.has(name)) skipped.add(`column ${oneLine(name, 40)}`);
  const [flag = ''] = textsIn(row, 'answerable');
  const isUnanswerable = /^(false|no|0)$/i.test(flag);
  if (isUnanswerable && textsIn(row, 'answer').length > 0)
    changed.add('the answer of an unanswerable row is dropped');
  const answers = isUnanswerable ? [] : textsIn(row, 'answer');
  return {
    id: textsIn(row, 'id')[0],
    question: textsIn(row, 'question')[0],
    expectedAnswer: answers.length === 1 ? answers[0] : answers,
    expectedPhrases: isUnanswerable ? [] : listIn(row, 'phrases'),
    expectedSources: listIn(row, 'sources'),
    answerable: isUnanswerable ? false : /^(true|yes|1)$/i.test(flag) || undefined,
    tags: listIn(row, 'tags'),
  };
}

/** The question of a promptfoo test is the variable with such a name, or its only variable. */
function draftFromPromptfoo(
  { description, vars, assert }: PromptfooTest,
  skipped: Set<string>,
  changed: Set<string>,
): Draft {
  const values = Object.values(vars);
  const [question = values.length === 1 ? toTexts(values[0])[0] : undefined] = textsIn(vars, 'question');
  const expectedAnswer: string[] = [];
  const expectedPhrases: string[] = [];
  const forbiddenPhrases: string[] = [];
  const checks: CaseCheck[] = [];
  if (question === undefined) return {};
  for (const { type, value } of assert) {
    const texts = toTexts(value);
    const [text = ''] = texts;
    for (const [types, change] of CHANGED_ASSERTIONS)
      if (text !== '' && types.test(type)) changed.add(`${type} ${change}`);
    if (text === '') skipped.add(`assertions of type ${oneLine(type, 40)} without text`);
    else if (/^(equals|similar)$/.test(type)) expectedAnswer.push(text);
    else if (/^i?contains$/.test(type)) checks.push({ contains: text });
    else if (/^i?contains-all$/.test(type)) expectedPhrases.push(...texts);
    else if (/^not-i?contains$/.test(type)) forbiddenPhrases.push(text);
    else if (type === 'regex') checks.push({ regex: text });
    else if (/^(llm-rubric|model-graded-closedqa)$/.test(type)) checks.push({ rubric: text });
    else skipped.add(`assertions of type ${oneLine(type, 40)}`);
  }
  return { question, expectedAnswer, expectedPhrases, forbiddenPhrases, checks, note: description };
}

function textsIn(row: Row, field: keyof typeof COLUMNS): string[] {
  return COLUMNS[field].map((name) => toTexts(row[name])).find((texts) => texts.length > 0) ?? [];
}

/** A cell may list several values, separated by a semicolon or a bar. */
function listIn(row: Row, field: keyof typeof COLUMNS): string[] {
  return textsIn(row, field).flatMap((text) => text.split(/[;|]/).flatMap((part) => part.trim() || []));
}

function toTexts(value: unknown): string[] {
  const isText = (part: unknown) => ['string', 'number', 'boolean'].includes(typeof part);
  return [value].flat().flatMap((part) => (isText(part) ? String(part).trim() || [] : []));
}
