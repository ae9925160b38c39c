import { createHash } from 'node:crypto';
import { isMap, isSeq, LineCounter, parseDocument, stringify } from 'yaml';
import { advice, command } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { oneLine } from '../../text/visible-text.ts';
import { type EvaluationCase, evaluationCaseSchema } from './evaluation-case.ts';
import { faultOf, type RawRow, readJsonLines, refuseFaults } from './json-lines.ts';

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
  refuseFaults(file, faults, `A case has the fields ${Object.keys(evaluationCaseSchema.shape).join(', ')}.`);
  if (cases.length > 0) return cases;
  throw new AppError('invalid_input', `${file} holds no cases.`, {
    hint: advice`Draft some from your documents${command('eval init')}`,
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

function readYaml(text: string, file: string, faults: string[]): RawRow[] {
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

/** Cases as a file of this name holds them: YAML, which is easier to correct by hand, or JSONL. */
export function writeCases(cases: readonly EvaluationCase[], file: string): string {
  if (/\.ya?ml$/i.test(file)) return stringify(cases, { lineWidth: 110 });
  return cases.map((item) => `${JSON.stringify(item)}\n`).join('');
}
