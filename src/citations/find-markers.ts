import { findCodeSpans, findMarkdownBlocks, replaceRanges, type TextRange } from '../text/markdown-blocks.ts';

/** A place in an answer that refers to sources: `[1]`, `[1, 2]`, `[1-3]`, `【1†source】`, `[Source: title]` or a link. */
export interface CitationMarker extends TextRange {
  /** Refs, or a title, as written. Empty for a link with another text. */
  names: string[];
  /** Null unless it is `[label](url)`. */
  link: { url: string; label: string; isImage: boolean } | null;
}

// The repetitions are bounded, so that the search takes linear time.
const LENTICULAR = /【([^【】\n]{1,600})】/.source;
const LABEL = /(!?)\[((?:[^[\]]|\[[^[\]]{0,100}\]){0,600})\]/.source;
const TARGET =
  /\(\s{0,9}<?((?:[^\s()<>]|\([^\s()]{0,200}\)){0,2000})>?(?:\s{1,9}["'][^\n]{0,200}?["'])?\s{0,9}\)/.source;
const BRACKET = new RegExp(`${LENTICULAR}|${LABEL}(?:${TARGET})?`, 'dg');
const SOURCE_WORD = /^\s*[*_]*(?:sources?|refs?|references?|citations?)[*_]*(?:\s*:[*_]*\s*|(?=[\s#]*\d))/i;
/** `[1-3]` means three sources; a wider span is a page range or an error. */
const WIDEST_SPAN = 20;
/** The characters before a bracket that are examined. */
const BRACKET_CONTEXT = 40;
/** What stands before an index rather than a citation: `my_rows`, `node.names`, `rowCount`, `a`, `list`. */
const INDEXED =
  /(?:[_$.][\p{L}\p{N}_$]+|\b[a-z]+[A-Z]\w*|\b[a-z]{1,2}|\b(?:arg[sv]|arrays?|data|items?|lists?|nodes?|rows?|values?|vector))$/u;

/** The markers and links of an answer in order, outside of code. */
export function findMarkersAndLinks(answer: string, knows: (ref: string) => boolean): CitationMarker[] {
  if (!/[[【]/.test(answer)) return [];
  return findMarkdownBlocks(answer).flatMap(({ kind, start, end, content }) => {
    if (kind === 'code') return [];
    const block = answer.slice(start, end);
    const masked = maskCode(block);
    const found: CitationMarker[] = [];
    BRACKET.lastIndex = content - start;
    for (let match = BRACKET.exec(masked); match !== null; match = BRACKET.exec(masked)) {
      const marker = toMarker(match, block, knows);
      if (marker === null) BRACKET.lastIndex = match.index + 1;
      else found.push({ ...marker, start: start + marker.start, end: start + marker.end });
    }
    return found;
  });
}

/** The markers of an answer that are not links. */
export function findMarkers(answer: string, knows: (ref: string) => boolean = () => false): CitationMarker[] {
  return findMarkersAndLinks(answer, knows).filter(({ link }) => link === null);
}

/** Replaces code and escaped characters by backticks. Keeps the length. */
function maskCode(block: string): string {
  if (!/[`\\]/.test(block)) return block;
  const spans = findCodeSpans(block, { start: 0, end: block.length });
  const edits = spans.map(({ start, end }) => ({ start, end, text: '`'.repeat(end - start) }));
  return replaceRanges(block, edits).replace(/\\[!-/:-@[-`{-~]/g, '``');
}

function toMarker(
  { 0: whole, index, indices }: RegExpExecArray,
  block: string,
  knows: (ref: string) => boolean,
): CitationMarker | null {
  const [lenticular, bang = '', label = '', url] = [1, 2, 3, 4].map((group) => {
    const range = indices?.[group];
    return range && block.slice(...range).replace(/\\([^\p{L}\p{N}\s])/gu, '$1');
  });
  const end = index + whole.length;
  const open = index + bang.length;
  const content = lenticular?.replace(/†.*/, '') ?? label;
  const refs = parseRefs(content);
  const isIndex = refs !== null && lenticular === undefined && !isCitation(block.slice(0, open), refs, knows);
  const names = isIndex ? null : (refs ?? parseSourceName(content));
  if (url !== undefined && !isIndex) {
    const named = /\bsource:[*_]*\s*$/i.test(block.slice(Math.max(0, open - BRACKET_CONTEXT), open))
      ? [label]
      : [];
    return { start: index, end, names: names ?? named, link: { url, label, isImage: bang !== '' } };
  }
  return names && { start: open, end, names, link: null };
}

/** The name in "Source: name", or null without the word. */
function parseSourceName(content: string): string[] | null {
  const name = content.replace(SOURCE_WORD, '').replace(/^["“”'\s]+|["“”'\s]+$/g, '');
  return name === '' || !SOURCE_WORD.test(content) ? null : [name];
}

/** Parses `1`, `1, 2`, `1-3`, `^1` or `source 1`; null if a text is something else. */
function parseRefs(content: string): string[] | null {
  const refs: string[] = [];
  for (const part of content.replace(SOURCE_WORD, '').split(/[,;&]/)) {
    const [, first, last = first] = /^\s*[#^]?(\d{1,6})(?:\s?[-–—]\s?\^?(\d{1,6}))?\s*$/.exec(part) ?? [];
    const width = Number(last) - Number(first);
    if (!(width >= 0 && width < WIDEST_SPAN)) return null;
    for (let ref = Number(first); ref <= Number(last); ref += 1) refs.push(String(ref));
  }
  return refs;
}

/**
 * Whether numbers in a bracket after a text are a citation. Refs start at 1 and are small: `[0, 1]` and "the range [1, 5]"
 * are intervals, and `[2024]` is a year unless it is the ref of a source.
 */
function isCitation(text: string, refs: readonly string[], knows: (ref: string) => boolean): boolean {
  const before = text.slice(-BRACKET_CONTEXT).replace(/(?:\[[^[\]]*\])+$/, '');
  if (INDEXED.test(before) || (refs.length > 1 && refs.includes('0'))) return false;
  if (refs.length === 2 && /\b(?:range|interval)(?: of| is)?\s*$/i.test(before)) return false;
  return refs.some(knows) || refs.every((ref) => ref.length <= 3);
}
