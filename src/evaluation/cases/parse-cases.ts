import { createHash } from 'node:crypto';
import { isMap, isSeq, LineCounter, parseDocument, stringify } from 'yaml';
import type * as z from 'zod';
import { advice, viaCommand } from '../../faults/advice.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { oneLine } from '../../text/visible-text.ts';
import { type EvaluationCase, evaluationCaseSchema } from './evaluation-case.ts';

const MAX_LISTED_ISSUES = 5;

/** A value of a file before it is validated. */
interface FileRow {
  value: unknown;
  line: number;
}

/**
 * Parses cases from JSONL (one per line) or YAML (a list, or a map with the list under `cases`), decided by the file
 * name, or else by the first character. Throws `invalid_input` that names the line of every issue.
 */
export function parseCases(text: string, file: string): EvaluationCase[] {
  const issues: string[] = [];
  const rows = isJsonLines(text, file) ? parseJsonLines(text, issues) : parseYamlRows(text, file, issues);
  const cases = validateRows(rows, evaluationCaseSchema, 'id', issues);
  throwIssues(file, issues);
  if (cases.length > 0) return cases;
  throw new AppError('invalid_input', `${file} contains no cases.`, {
    hint: advice`Draft some from your documents${viaCommand('eval init')}`,
  });
}

/** The valid rows. Invalid ones, and ids that occurred before, are added to `issues`. */
export function validateRows<Key extends string, Row extends Record<Key, string>>(
  rows: readonly FileRow[],
  schema: z.ZodType<Row>,
  idField: Key,
  issues: string[],
): Row[] {
  const lines = new Map<string, number>();
  return rows.flatMap(({ value, line }): Row[] => {
    const result = schema.safeParse(value);
    if (!result.success) {
      issues.push(...result.error.issues.map((issue) => `line ${line}: ${formatSchemaIssue(issue, value)}`));
      return [];
    }
    const id = result.data[idField];
    const first = lines.get(id);
    if (first !== undefined)
      issues.push(`line ${line}: duplicate ${idField} "${oneLine(id, 60)}", first used in line ${first}`);
    lines.set(id, first ?? line);
    return [result.data];
  });
}

/** The same for equal cases, whatever the format of the file. */
export function hashCases(cases: readonly EvaluationCase[]): string {
  return createHash('sha256').update(JSON.stringify(cases)).digest('hex');
}

/** Cases in the format of the file name: YAML, or JSONL. */
export function formatCases(cases: readonly EvaluationCase[], file: string): string {
  if (/\.ya?ml$/i.test(file)) return stringify(cases, { lineWidth: 110 });
  return cases.map((item) => `${JSON.stringify(item)}\n`).join('');
}

function isJsonLines(text: string, file: string): boolean {
  if (/\.(jsonl|ndjson)$/i.test(file)) return true;
  return !/\.(ya?ml|json)$/i.test(file) && text.trimStart().startsWith('{');
}

/** One row per line that is not blank. Lines that are not JSON are added to `issues`. */
export function parseJsonLines(text: string, issues: string[]): FileRow[] {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .flatMap((content, index): FileRow[] => {
      if (content.trim() === '') return [];
      try {
        return [{ value: JSON.parse(content), line: index + 1 }];
      } catch (error) {
        issues.push(`line ${index + 1}: not valid JSON (${oneLine(messageOf(error), 100)})`);
        return [];
      }
    });
}

function parseYamlRows(text: string, file: string, issues: string[]): FileRow[] {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const lineAt = (offset: number) => lineCounter.linePos(offset).line;
  for (const { pos, message } of document.errors)
    issues.push(`line ${lineAt(pos[0])}: ${oneLine(message, 120)}`);
  if (issues.length > 0 || document.contents === null) return [];
  const { contents } = document;
  const list = isMap(contents) && contents.items.length === 1 ? contents.get('cases', true) : contents;
  if (!isSeq(list)) {
    throw new AppError('invalid_input', `${file} contains no list of cases.`, {
      hint: 'Write a list, or a map with the list under "cases" and no other key.',
    });
  }
  return list.items.map((item) => {
    const node = item as { range?: [number, number, number]; toJS?(document: unknown): unknown };
    // Only the document can resolve aliases.
    return { value: node.toJS?.(document) ?? item, line: lineAt(node.range?.[0] ?? 0) };
  });
}

/** A validation issue of a row in a few words. */
function formatSchemaIssue(issue: z.core.$ZodIssue, value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not an object';
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => `"${oneLine(key, 40)}"`).join(', ');
    return `unknown field ${names}${path === '' ? '' : ` in ${path}`}`;
  }
  const isMissing = issue.path.length === 1 && !Object.hasOwn(value, issue.path[0] as string);
  return isMissing ? `${path} is missing` : `${path}: ${oneLine(issue.message, 120)}`;
}

function throwIssues(file: string, issues: readonly string[]): void {
  const [first, ...others] = issues;
  if (first === undefined) return;
  const shown = others.slice(0, MAX_LISTED_ISSUES).map((issue) => `${issue}.`);
  const more = others.length - shown.length;
  const fields = `Fields of a case: ${Object.keys(evaluationCaseSchema.shape).join(', ')}.`;
  throw new AppError('invalid_input', `${file}, ${first}.`, {
    hint: [...shown, ...(more > 0 ? [`And ${more} more.`] : []), fields].join(' '),
  });
}
