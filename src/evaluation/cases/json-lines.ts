import { AppError, messageOf } from '../../faults/app-error.ts';
import { oneLine } from '../../text/visible-text.ts';

const MOST_FAULTS = 5;

/** What a file holds at a line, before anything is known of it. */
export interface RawRow {
  value: unknown;
  line: number;
}

/** The objects of a file, one a line; what is no JSON is added to the faults. */
export function readJsonLines(text: string, faults: string[]): RawRow[] {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .flatMap((content, index): RawRow[] => {
      if (content.trim() === '') return [];
      try {
        return [{ value: JSON.parse(content), line: index + 1 }];
      } catch (error) {
        faults.push(`line ${index + 1}: it is no JSON (${oneLine(messageOf(error), 100)})`);
        return [];
      }
    });
}

interface Issue {
  code?: string | undefined;
  path: PropertyKey[];
  message: string;
  keys?: string[];
}

/** What is wrong with a row, by the schema that refused it. */
export function faultOf(issue: Issue, value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is no object';
  if (issue.code === 'unrecognized_keys') {
    const names = (issue.keys ?? []).map((key) => `"${oneLine(key, 40)}"`).join(', ');
    return `there is no field ${names}${issue.path.length > 0 ? ` in ${issue.path.map(String).join('.')}` : ''}`;
  }
  const place = issue.path.map(String).join('.');
  const isMissing = issue.path.length === 1 && !Object.hasOwn(value, issue.path[0] as string);
  return isMissing ? `${place} is missing` : `${place}: ${oneLine(issue.message, 120)}`;
}

/** Throws `invalid_input` that tells the first few faults, each with its line; `fields` says what a row should be. */
export function refuseFaults(file: string, faults: readonly string[], fields: string): void {
  const [first, ...others] = faults;
  if (first === undefined) return;
  const shown = others.slice(0, MOST_FAULTS).map((fault) => `${fault}.`);
  const left = others.length - shown.length;
  throw new AppError('invalid_input', `${file}, ${first}.`, {
    hint: [...shown, ...(left > 0 ? [`And ${left} more.`] : []), fields].join(' '),
  });
}
