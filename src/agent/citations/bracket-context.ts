import type { Range } from './markdown-blocks.ts';

/** Names that are followed by an index rather than by a citation. */
const CONTAINERS = new Set(
  `args argv arguments arr array arrays axes axis buffer cell cells col cols column columns data dict element
  elements entries entry frame frames grid index indices input inputs item items key keys line lines list lists
  map matrix node nodes object objects output outputs param params parts path pixel point points position queue
  result results row rows samples shape stack state states sys tensor tuple value values vec vector`.split(
    /\s+/,
  ),
);
const LONGEST_WORD = 40;

/** Whether a bracket is glued to something that is indexed: `list[0]`, `a[1]`, `node.names[2]`. */
export function looksLikeIndex(text: string, open: number): boolean {
  const before = text.slice(Math.max(0, open - LONGEST_WORD), open);
  const word = /[\p{L}\p{N}\p{M}_$]+$/u.exec(before)?.[0];
  if (word === undefined) return false;
  if (/^\d+$/.test(word)) return false;
  if (/[_$]|^\p{Ll}[\p{Ll}\d]*\p{Lu}/u.test(word) || CONTAINERS.has(word)) return true;
  if (before.charAt(before.length - word.length - 1) === '.') return true;
  return word.length < 3 && !/^\p{Lu}+$/u.test(word) && !/[^\p{ASCII}]/u.test(word);
}

/**
 * Whether numbers in brackets are meant as a citation. Refs count from 1 and are small: `[0, 1]` and "the range
 * [1, 5]" are intervals, and `[2024]` is a year unless there is such a source or it stands where citations do.
 */
export function mayBeCitation(
  text: string,
  { start, end }: Range,
  { refs, isKnown, index }: { refs: readonly string[]; isKnown: boolean; index: boolean },
): boolean {
  if (index || refs.length === 0) return false;
  if (refs.length > 1 && refs.includes('0')) return false;
  const before = text.slice(Math.max(0, start - LONGEST_WORD), start);
  if (refs.length === 2 && /\b(?:range|interval)(?: of| is)?\s*$/i.test(before)) return false;
  if (isKnown) return true;
  const glued = /[\p{L}\p{N}_]$/u.test(before);
  return (!glued && refs.every((ref) => ref.length <= 3)) || endsSentence(text, before, end);
}

function endsSentence(text: string, before: string, end: number): boolean {
  if (/[.!?]["'”’)]*\s*$/.test(before)) return true;
  if (!/[\p{L}\p{N}\p{P}]\s*$/u.test(before)) return false;
  return /^[ \t]*(?:$|[\n.,;!?)[【])/.test(text.slice(end, end + LONGEST_WORD));
}
