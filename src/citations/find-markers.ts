import { findCodeSpans, findMarkdownBlocks, replaceRanges } from '../text/markdown-blocks.ts';

/** How a marker names one source. */
export interface SourceReference {
  /** A ref, a title or an address, as written. */
  name: string;
  /** The address of a link, which takes precedence over the name. */
  url: string | null;
}

/** A place in an answer that refers to sources. Markers do not overlap. */
export interface CitationMarker {
  start: number;
  end: number;
  references: SourceReference[];
  /** The text of a link that is part of the sentence; null if it only names the source. */
  label: string | null;
  /** A link to another site. It cites nothing, unless it is in a list of sources. */
  external?: boolean;
}

export interface KnownSources {
  knows(reference: string): boolean;
  /** Whether a link with this text leads to a site without sources, so that it cites nothing. */
  isExternal?(url: string, label: string): boolean;
}

const NO_SOURCES: KnownSources = { knows: () => false };
const MARKER_START = /!?\[|【|<?(?:(?:https?|ftps?|file):\/\/|(?<![\p{L}\p{N}_.])www\.)/giu;
// The repetitions are bounded, so that the search takes linear time.
const BRACKET = /!?\[((?:[^[\]]|\[[^[\]]{0,200}\]){0,600})\]/y;
const LENTICULAR_BRACKET = /【([^【】]{1,600})】/y;
const LINK_TARGET =
  /\(\s*(?:<([^<>\n]{0,2000})>|(?!<)((?:[^\s()]|\([^\s()]{0,200}\)){0,2000}))(?:\s+["'(][^\n]{0,200}?["')])?\s*\)/dy;
const WEB_ADDRESS =
  /(?:[a-z]+:\/\/|www\.)(?:\[[\da-f:.]{1,50}\])?(?:[^\s()<>"`[\]{}|\\【】。，、；：？！（）“”]|\([^\s()<>"`[\]{}|\\]{0,200}\)){1,2000}(?<![.,;:!?'*_~’])/iy;
/** Addresses of the reader's machine are examples to open, not sources. */
const LOOPBACK = /^[a-z]+:\/\/(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\])(?::\d+)?(?:[/?#][^@]*)?$/i;
const SOURCE_WORD = /^\s*[*_]*(?:sources?|refs?|references?|citations?)[*_]*(?:\s*:[*_]*\s*|(?=[\s#]*\d))/i;
/** Characters before a bracket that are examined. */
const BRACKET_CONTEXT = 40;
/** `[1-3]` means three sources; a wider span is a page range or an error. */
const WIDEST_SPAN = 20;

/** The markers of an answer in order, outside of code. */
export function findMarkers(answer: string, known: KnownSources = NO_SOURCES): CitationMarker[] {
  const markers: CitationMarker[] = [];
  for (const { kind, start, end, content } of findMarkdownBlocks(answer)) {
    if (kind === 'code') continue;
    const block = answer.slice(start, end);
    const masked = maskCode(block);
    MARKER_START.lastIndex = content - start;
    for (let found = MARKER_START.exec(masked); found !== null; found = MARKER_START.exec(masked)) {
      const marker = markerAt(block, masked, found.index, known);
      if (marker !== null) markers.push({ ...marker, start: start + marker.start, end: start + marker.end });
      MARKER_START.lastIndex = marker?.end ?? found.index + 1;
    }
  }
  return markers;
}

/** Replaces code and escaped characters by backticks. Keeps the length. */
function maskCode(block: string): string {
  const spans = findCodeSpans(block, { start: 0, end: block.length });
  const edits = spans.map(({ start, end }) => ({ start, end, text: '`'.repeat(end - start) }));
  return replaceRanges(block, edits).replace(/\\[!-/:-@[-`{-~]/g, '``');
}

function markerAt(block: string, masked: string, start: number, known: KnownSources): CitationMarker | null {
  const first = masked.charAt(start);
  if (first === '【') return lenticularAt(masked, start);
  if (first !== '[' && first !== '!') return addressAt(masked, start, known);
  const bracket = matchAt(BRACKET, masked, start)?.[0];
  if (bracket === undefined) return null;
  const open = start + bracket.indexOf('[');
  const end = start + bracket.length;
  const link = linkAt(block, masked, { open, close: end - 1 }, known);
  if (link !== null || open > start) return link;
  const content = unescapeMarkdown(block.slice(open + 1, end - 1));
  const refs = parseRefs(content);
  const isMarker = refs === null || isCitation(block, open, refs, known.knows);
  const names = refs ?? parseSourceName(content);
  return isMarker && names !== null ? toMarker(start, end, names) : null;
}

function lenticularAt(masked: string, start: number): CitationMarker | null {
  const [whole, content = ''] = matchAt(LENTICULAR_BRACKET, masked, start) ?? [];
  if (whole === undefined) return null;
  const [name = '', lines] = content.split('†');
  const names = parseRefs(name) ?? parseSourceName(name) ?? (lines === undefined ? null : [name || content]);
  return names && toMarker(start, start + whole.length, names);
}

/** `https://…`, also in angle brackets. */
function addressAt(masked: string, start: number, known: KnownSources): CitationMarker | null {
  const from = masked.charAt(start) === '<' ? start + 1 : start;
  const url = matchAt(WEB_ADDRESS, masked, from)?.[0];
  if (url === undefined || (LOOPBACK.test(url) && !known.knows(url))) return null;
  const end = from + url.length;
  if (from > start && masked.charAt(end) !== '>') return null;
  return { start, end: end + from - start, references: [{ name: url, url }], label: null };
}

/** `[label](address)`, or an image. */
function linkAt(
  block: string,
  masked: string,
  { open, close }: { open: number; close: number },
  known: KnownSources,
): CitationMarker | null {
  const target = matchAt(LINK_TARGET, masked, close + 1);
  const range = target?.indices?.[1] ?? target?.indices?.[2];
  if (target === null || range === undefined) return null;
  const url = unescapeMarkdown(block.slice(...range));
  const label = block.slice(open + 1, close);
  const plain = unescapeMarkdown(label);
  const refs = parseRefs(plain);
  if (refs !== null && isArrayIndex(block, open) && !looksLikeAddress(url)) return null;
  const [title] = refs === null ? (parseSourceName(plain) ?? []) : [''];
  const isNamed =
    title !== undefined || /\bsources?[*_]*:[*_]*\s*$/i.test(block.slice(Math.max(0, open - 20), open));
  const isProse = !isNamed && matchAt(WEB_ADDRESS, label.trim(), 0) === null;
  const isImage = masked.charAt(open - 1) === '!';
  // Images load without a click, and a label may contain markers.
  const isPlainLink = isProse && !isImage && !/[[\]【]/.test(label);
  return {
    start: isImage ? open - 1 : open,
    end: close + 1 + target[0].length,
    references: [{ name: (title ?? label).trim() || url, url }],
    label: isProse ? label : null,
    ...(isPlainLink && known.isExternal?.(url, label) && { external: true }),
  };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function toMarker(start: number, end: number, names: readonly string[]): CitationMarker {
  return { start, end, references: names.map((name) => ({ name, url: null })), label: null };
}

function unescapeMarkdown(text: string): string {
  return text.replace(/\\([^\p{L}\p{N}\s])/gu, '$1');
}

/** The name in "Source: name", or null without the word. */
function parseSourceName(content: string): string[] | null {
  const name = content.replace(SOURCE_WORD, '').trim();
  return name === '' || !SOURCE_WORD.test(content) ? null : [name.replace(/^["“”']+|["“”']+$/g, '') || name];
}

/** Parses `1`, `1, 2`, `1-3`, `^1` or `source 1`; null if a text is something else. */
export function parseRefs(content: string): string[] | null {
  const refs: string[] = [];
  for (const part of content.replace(SOURCE_WORD, '').split(/[,;&]/)) {
    const [, first, last = first] =
      /^\s*[#^]?(\d{1,6})(?:\s?[-–—]\s?\^?(\d{1,6}))?(?:†.*)?\s*$/.exec(part) ?? [];
    const width = Number(last) - Number(first);
    if (!(width >= 0 && width < WIDEST_SPAN)) return null;
    for (let ref = Number(first); ref <= Number(last); ref += 1) refs.push(String(ref));
  }
  return refs;
}

/**
 * Whether numbers in the bracket at `open` are a citation. Refs start at 1 and are small: `[0, 1]` and "the range [1, 5]"
 * are intervals, and `[2024]` is a year unless it is the ref of a source.
 */
export function isCitation(
  text: string,
  open: number,
  refs: readonly string[],
  knows: (ref: string) => boolean,
): boolean {
  if (isArrayIndex(text, open) || (refs.length > 1 && refs.includes('0'))) return false;
  const before = text.slice(Math.max(0, open - BRACKET_CONTEXT), open);
  if (refs.length === 2 && /\b(?:range|interval)(?: of| is)?\s*$/i.test(before)) return false;
  return refs.some(knows) || refs.every((ref) => ref.length <= 3);
}

/** Names before a bracket that is an index rather than a citation. */
const CONTAINER_NAME =
  /^(?:arg[sv]|arr|arrays?|buffer|cells?|col(?:umn)?s?|data|dict|elements?|entr(?:y|ies)|index|inputs?|items?|keys?|lines?|lists?|map|matrix|nodes?|objects?|outputs?|params?|path|points?|queue|results?|rows?|shape|stack|states?|tensor|tuple|values?|vec|vector)$/;

/** Whether the bracket at `open` is an index: `list[0]`, `a[1]`, `node.names[2]`, `rows[i][1]`. */
export function isArrayIndex(text: string, open: number): boolean {
  const before = text.slice(Math.max(0, open - BRACKET_CONTEXT), open).replace(/(?:\[[^[\]]*\])+$/, '');
  const word = /[\p{L}\p{N}\p{M}_$]+$/u.exec(before)?.[0];
  if (word === undefined || /^\d+$/.test(word)) return false;
  if (/[_$]|^\p{Ll}[\p{Ll}\d]*\p{Lu}/u.test(word) || CONTAINER_NAME.test(word)) return true;
  if (before.charAt(before.length - word.length - 1) === '.') return true;
  return word.length < 3 && !/^\p{Lu}+$/u.test(word) && !/[^\p{ASCII}]/u.test(word);
}

export function looksLikeAddress(text: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]{1,30}:\/\/|www\.|\/|\.{1,2}\/|#|mailto:|javascript:|data:)/i.test(text.trim());
}
