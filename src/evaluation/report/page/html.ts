import { visibleText } from '../../../domain/visible-text.ts';

/** Markup that was made here, as opposed to text, which is escaped. */
export interface Html {
  readonly markup: string;
}

type Part = string | number | Html | null | undefined | false | readonly Part[];

/** A template whose every part is escaped, unless it was made by this very function. */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const markup = pieces.reduce((made, piece, index) => made + markupOf(parts[index - 1]) + piece);
  return { markup };
}

function markupOf(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string') return escapeHtml(part);
  return 'markup' in part ? part.markup : part.map(markupOf).join('');
}

/** Safe between tags and inside quoted attributes; without control characters and marks that reorder text. */
export function escapeHtml(text: string): string {
  return visibleText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
