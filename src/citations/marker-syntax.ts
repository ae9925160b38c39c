import type { TextRange } from '../text/markdown-blocks.ts';

/** How a marker names one source. */
export interface SourceReference {
  /** A ref, a title or an address, as written. */
  name: string;
  /** The address of a link, which takes precedence over the name. */
  url: string | null;
}

const PART = /^[#^]?(\d{1,6})(?:†.*)?$/;
const SPAN = /^[#^]?(\d{1,6})\s?[-–—]\s?[#^]?(\d{1,6})$/;
/** `[1-3]` means three sources; a wider span is a page range or an error. */
const WIDEST_SPAN = 20;
const WORD_BEFORE_REFS = /^(?:refs?|references?|sources?|docs?|documents?|results?|citations?)[.:#\s]+/i;
const SOURCE_WORD = /^\s*[*_]*(?:sources?|src|refs?|references?|citations?|cited from)[*_]*\s*:[*_]*\s*/i;

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

/** The text after "Source:", or null without it. */
export function textAfterSourceWord(content: string): string | null {
  const word = SOURCE_WORD.exec(content);
  return word === null ? null : content.slice(word[0].length);
}

const WEB_ADDRESS = /(?:https?|ftps?|file):\/\/|www\./iy;
const BEGINS_ADDRESS = 'hfwHFW';
const ENDS_ADDRESS = /[\s<>"`[\]{}|\\【】。，、；：？！（）“”]/u;

/** The end of the web address that starts at a position, or -1. */
export function findAddressEnd(text: string, start: number, limit: number): number {
  // Called for every character of an answer; most cannot start an address.
  if (!BEGINS_ADDRESS.includes(text.charAt(start))) return -1;
  WEB_ADDRESS.lastIndex = start;
  const scheme = WEB_ADDRESS.exec(text)?.[0];
  if (scheme === undefined) return -1;
  if (scheme.toLowerCase() === 'www.' && start > 0 && /[\p{L}\p{N}_.]/u.test(text.charAt(start - 1)))
    return -1;
  const host = start + scheme.length;
  let end = text.charAt(host) === '[' ? findIpv6End(text, host) : host;
  let open = 0;
  while (end < limit && !ENDS_ADDRESS.test(text.charAt(end))) {
    if (text.charAt(end) === '(') open += 1;
    if (text.charAt(end) === ')') open -= 1;
    end += 1;
  }
  for (; end > host; end -= 1) {
    const last = text.charAt(end - 1);
    if (last === ')' && open < 0) open += 1;
    else if (!/[.,;:!?'*_~’]/.test(last)) break;
  }
  return end > host ? end : -1;
}

/** The end of an IPv6 address such as `[2001:db8::1]`, or `start` if it is something else. */
function findIpv6End(text: string, start: number): number {
  return start + (/^\[[\da-f:.]+\]/i.exec(text.slice(start, start + 50))?.[0].length ?? 0);
}

/** The address in the `(...)` of a Markdown link, or null if it is not a link. */
export function parseLinkTarget(content: string): string | null {
  const text = content.trim();
  if (text.startsWith('<')) {
    const end = text.indexOf('>');
    return end < 0 ? null : text.slice(1, end);
  }
  const space = text.search(/\s/);
  if (space < 0) return text;
  const title = text.slice(space).trim();
  return /^["'(]/.test(title) || looksLikeAddress(text) ? text.slice(0, space) : null;
}

export function looksLikeAddress(text: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]{1,30}:\/\/|www\.|\/|\.{1,2}\/|#|mailto:|javascript:|data:)/i.test(text.trim());
}

/** Addresses of the reader's machine are examples to open, not sources. */
export function isLoopbackAddress(url: string): boolean {
  return /^[a-z]+:\/\/(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\])(?::\d+)?(?:[/?#][^@]*)?$/i.test(
    url,
  );
}

/** Characters around a bracket that are examined. */
export const BRACKET_CONTEXT = 40;

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
