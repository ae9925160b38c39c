import { readFileSync } from 'node:fs';

/** A question about documentation. A right answer matches all `gold` patterns and no `wrong` one. */
export interface DocumentQuestion {
  id: string;
  kind: string;
  history: string[];
  question: string;
  gold: string[];
  wrong: string[];
}

export function readQuestions(path: string): DocumentQuestion[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as DocumentQuestion);
}

/** Whether a text matches all gold patterns and no wrong one. */
export function holdsAnswer({ kind, gold, wrong }: DocumentQuestion, text: string): boolean {
  if (kind === 'unanswerable') return false;
  const tidy = text
    .replace(/[\u00a0\u202f]/g, ' ')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2010\u2011]/g, '-')
    .replace(/\\\r?\n\s*/g, ' ');
  const forms = [tidy, tidy.replace(/\*\*|`+/g, '').replace(/\\([_*[\]<>])/g, '$1')];
  const matches = (pattern: string) => forms.some((form) => new RegExp(pattern, 'i').test(form));
  return gold.every(matches) && !wrong.some(matches);
}
