import { createHash } from 'node:crypto';
import { isMap, isSeq, LineCounter, parseDocument } from 'yaml';
import { AppError, messageOf } from '../../domain/app-error.ts';
import { oneLine } from '../../domain/visible-text.ts';
import { type EvaluationCase, evaluationCaseSchema } from './evaluation-case.ts';

const MOST_FAULTS = 5;

interface Found {
  value: unknown;
  line: number;
}

/**
 * Reads cases from JSONL (one a line) or YAML (a list, or a map with the list under `cases`), as the file is called
 * or else as it begins. Throws `invalid_input` that names the line of every fault.
 */
export function readCases(text: string, file: string): EvaluationCase[] {
  const faults: string[] = [];
  const found = isJsonLines(text, file) ? readJsonLines(text, faults) : readYaml(text, file, faults);
  const lines = new Map<string, number>();
  const cases = found.flatMap(({ value, line }): EvaluationCase[] => {
    const result = evaluationCaseSchema.safeParse(value);
    if (!result.success) {
      for (const issue of result.error.issues) faults.push(`line ${line}: ${faultOf(issue, value)}`);
      return [];
    }
    const before = lines.get(result.data.id);
    if (before !== undefined) {
      faults.push(`line ${line}: the id "${oneLine(result.data.id, 60)}" is taken by line ${before}`);
    }
    lines.set(result.data.id, before ?? line);
    return [result.data];
  });
  refuse(file, faults);
  if (cases.length > 0) return cases;
  throw new AppError('invalid_input', `${file} holds no cases.`, {
    hint: 'Draft some from your documents with: citeloop eval init',
  });
}

/** The same for the same cases, however the file is written. */
export function hashOfCases(cases: readonly EvaluationCase[]): string {
  return createHash('sha256').update(JSON.stringify(cases)).digest('hex');
}

function isJsonLines(text: string, file: string): boolean {
  if (/\.(jsonl|ndjson)$/i.test(file)) return true;
  return !/\.(ya?ml|json)$/i.test(file) && text.trimStart().startsWith('{');
}

function readJsonLines(text: string, faults: string[]): Found[] {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .flatMap((content, index): Found[] => {
      if (content.trim() === '') return [];
      try {
        return [{ value: JSON.parse(content), line: index + 1 }];
      } catch (error) {
        faults.push(`line ${index + 1}: it is no JSON (${oneLine(messageOf(error), 100)})`);
        return [];
      }
    });
}

function readYaml(text: string, file: string, faults: string[]): Found[] {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const lineAt = (offset: number) => lineCounter.linePos(offset).line;
  for (const { pos, message } of document.errors)
    faults.push(`line ${lineAt(pos[0])}: ${oneLine(message, 120)}`);
  if (faults.length > 0 || document.contents === null) return [];
  const { contents } = document;
  const list = isMap(contents) && contents.items.length === 1 ? contents.get('cases', true) : contents;
  if (!isSeq(list)) {
    throw new AppError('invalid_input', `${file} holds no list of cases.`, {
      hint: 'Write a list, or a map with the list under "cases" and nothing else.',
    });
  }
  return list.items.map((item) => {
    const node = item as { range?: [number, number, number]; toJSON?(): unknown };
    // Aliases are resolved by the document alone.
    const value = (item as { toJS?(document: unknown): unknown }).toJS?.(document) ?? item;
    return { value, line: lineAt(node.range?.[0] ?? 0) };
  });
}

interface Issue {
  code?: string | undefined;
  path: PropertyKey[];
  message: string;
  keys?: string[];
}

function faultOf(issue: Issue, value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is no object';
  if (issue.code === 'unrecognized_keys') {
    const names = (issue.keys ?? []).map((key) => `"${oneLine(key, 40)}"`).join(', ');
    return `there is no field ${names}${issue.path.length > 0 ? ` in ${issue.path.map(String).join('.')}` : ''}`;
  }
  const place = issue.path.map(String).join('.');
  const isMissing = issue.path.length === 1 && !Object.hasOwn(value, issue.path[0] as string);
  return isMissing ? `${place} is missing` : `${place}: ${oneLine(issue.message, 120)}`;
}

function refuse(file: string, faults: readonly string[]): void {
  const [first, ...others] = faults;
  if (first === undefined) return;
  const shown = others.slice(0, MOST_FAULTS).map((fault) => `${fault}.`);
  const left = others.length - shown.length;
  const fields = Object.keys(evaluationCaseSchema.shape).join(', ');
  throw new AppError('invalid_input', `${file}, ${first}.`, {
    hint: [...shown, ...(left > 0 ? [`And ${left} more.`] : []), `A case has the fields ${fields}.`].join(
      ' ',
    ),
  });
}
