import type { TextRange } from '../text/markdown-blocks.ts';

/** Characters around a bracket that are examined. */
export const BRACKET_CONTEXT = 40;

const PART = /^[#^]?(\d{1,6})(?:†.*)?$/;
const SPAN = /^[#^]?(\d{1,6})\s?[-–—]\s?[#^]?(\d{1,6})$/;
/** `[1-3]` means three sources; a wider span is a page range or an error. */
const WIDEST_SPAN = 20;
const WORD_BEFORE_REFS = /^(?:refs?|references?|sources?|docs?|documents?|results?|citations?)[.:#\s]+/i;

/** Parses `1`, `1, 2`, `1-3`, `^1`, `#1`, `1†source` or `ref 1`; null if a text is something else. */
export function parseRefNumbers(content: string): string[] | null {
  const refs: string[] = [];
  const list = content.trim().replace(WORD_BEFORE_REFS, '');
  for (const part of list.split(/[,;&]/)) {
    const text = part.trim();
    const one = PART.exec(text)?.[1];
    if (one !== undefined) {
      refs.push(String(Number(one)));
      continue;
    }
    const [, first, last] = SPAN.exec(text) ?? [];
    const width = Number(last) - Number(first);
    if (first === undefined || !(width > 0 && width < WIDEST_SPAN)) return null;
    for (let ref = Number(first); ref <= Number(last); ref += 1) refs.push(String(ref));
  }
  return refs;
}

/**
 * Whether numbers in brackets are a citation. Refs start at 1 and are small: `[0, 1]` and "the range [1, 5]" are
 * intervals, and `[2024]` is a year unless it is the ref of a source or at the end of a sentence.
 */
export function isCitation(
  text: string,
  { start, end }: TextRange,
  { refs, isKnown, index }: { refs: readonly string[]; isKnown: boolean; index: boolean },
): boolean {
  if (index || refs.length === 0) return false;
  if (refs.length > 1 && refs.includes('0')) return false;
  const before = text.slice(Math.max(0, start - BRACKET_CONTEXT), start);
  if (refs.length === 2 && /\b(?:range|interval)(?: of| is)?\s*$/i.test(before)) return false;
  if (isKnown) return true;
  const glued = /[\p{L}\p{N}_]$/u.test(before);
  return (!glued && refs.every((ref) => ref.length <= 3)) || endsSentence(text, before, end);
}

function endsSentence(text: string, before: string, end: number): boolean {
  if (/[.!?]["'”’)]*\s*$/.test(before)) return true;
  if (!/[\p{L}\p{N}\p{P}]\s*$/u.test(before)) return false;
  return /^[ \t]*(?:$|[\n.,;!?)[【])/.test(text.slice(end, end + BRACKET_CONTEXT));
}
