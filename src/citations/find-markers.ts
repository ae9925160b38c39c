import { findCodeSpans, findMarkdownBlocks, type MarkdownBlock } from '../text/markdown-blocks.ts';
import { BRACKET_CONTEXT, isCitation, parseRefNumbers } from './bracketed-refs.ts';
import {
  findAddressEnd,
  findAddresses,
  isLoopbackAddress,
  looksLikeAddress,
  parseLinkTarget,
} from './web-addresses.ts';

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
  /** Takes a whole line, such as "Source: title". */
  line: boolean;
  /** A link to another site. It cites nothing, unless it is in a list of sources. */
  external?: boolean;
}

export interface KnownSources {
  knows(reference: string): boolean;
  /** Whether a text is the whole title of a source. */
  isTitle(text: string): boolean;
  /** Whether an address is on a site without sources, so that it cannot be a source that was not retrieved. */
  isExternal?(url: string): boolean;
}

const NO_SOURCES: KnownSources = { knows: () => false, isTitle: () => false };
/** A longer text in brackets is not a reference. Bounds the work for each bracket. */
const LONGEST_CONTENT = 600;
const LONGEST_PLAIN_SOURCE_LINE = 120;
const PAIRS = [
  ['[', ']'],
  ['(', ')'],
  ['【', '】'],
] as const;
const SOURCE_WORD = /^\s*[*_]*(?:sources?|src|refs?|references?|citations?|cited from)[*_]*\s*:[*_]*\s*/i;
const SOURCE_LINE = /[ \t]*[*_]*sources?[*_]*:[*_]*[ \t]+(?=\S)/iy;

/**
 * The markers of an answer in order, outside of code. Takes linear time: brackets are paired once, and their content is
 * read up to a fixed length.
 */
export function findMarkers(answer: string, known: KnownSources = NO_SOURCES): CitationMarker[] {
  const scanner = createScanner(answer, known);
  return findMarkdownBlocks(answer).flatMap((block) =>
    block.kind === 'code' ? [] : scanner.scanBlock(block),
  );
}

function createScanner(text: string, known: KnownSources) {
  const pairs = PAIRS.filter(([opens]) => text.includes(opens));
  const code = new Uint8Array(text.length);
  /** For each opening bracket, the position of its closing one, or 0. */
  const closing = new Uint32Array(text.length);
  /** The ends of indexes such as `rows[i]`; a bracket that follows directly is another index. */
  const indexEnds = new Set<number>();

  function scanBlock(range: MarkdownBlock): CitationMarker[] {
    for (const span of findCodeSpans(text, range)) code.fill(1, span.start, span.end);
    for (const [opens, closes] of pairs) pairBrackets(range, opens, closes);
    return scanRange(range.content, range.end);
  }

  function pairBrackets(range: MarkdownBlock, opens: string, closes: string): void {
    const open: number[] = [];
    for (let at = range.start; at < range.end; at += 1) {
      if (code[at] === 1) continue;
      const character = text.charAt(at);
      if (character === '\\') at += escapes(at) ? 1 : 0;
      else if (character === opens) open.push(at);
      else if (character === closes) {
        const start = open.pop();
        if (start !== undefined) closing[start] = at;
      }
    }
  }

  /** Whether a backslash escapes the next character, which must be punctuation. */
  function escapes(backslash: number): boolean {
    return /[!-/:-@[-`{-~]/.test(text.charAt(backslash + 1));
  }

  function scanRange(start: number, end: number): CitationMarker[] {
    const markers: CitationMarker[] = [];
    for (let at = start; at < end; ) {
      if (code[at] === 1) {
        at += 1;
        continue;
      }
      const marker = markerAt(at, start, end);
      if (marker === null) at += text.charAt(at) === '\\' && escapes(at) ? 2 : 1;
      else {
        markers.push(marker);
        at = marker.end;
      }
    }
    return markers;
  }

  function markerAt(at: number, from: number, to: number): CitationMarker | null {
    if (at === from || text.charAt(at - 1) === '\n') {
      const line = sourceLineAt(at, to);
      if (line !== null) return line;
    }
    switch (text.charAt(at)) {
      case '[':
        return linkAt(at, at, to) ?? bracketAt(at);
      case '!':
        return text.charAt(at + 1) === '[' && at + 1 < to ? linkAt(at + 1, at, to) : null;
      case '【':
        return lenticularAt(at, to);
      case '(':
        return parenthesisAt(at, to);
      case '<': {
        const end = findAddressEnd(text, at + 1, to);
        return end >= 0 && text.charAt(end) === '>' ? addressAt(at, at + 1, end, end + 1) : null;
      }
      default: {
        const end = findAddressEnd(text, at, to);
        return end < 0 ? null : addressAt(at, at, end, end);
      }
    }
  }

  function addressAt(start: number, urlStart: number, urlEnd: number, end: number): CitationMarker | null {
    const url = text.slice(urlStart, urlEnd);
    if (isLoopbackAddress(url) && !known.knows(url)) return null;
    return toMarker(start, end, [{ name: url, url }]);
  }

  /** `[label](address)`, or an image, whose exclamation mark is at `start`. */
  function linkAt(open: number, start: number, to: number): CitationMarker | null {
    const close = closing[open] ?? 0;
    if (close === 0 || close >= to) return null;
    let paren = close + 1;
    while (text.charAt(paren) === ' ') paren += 1;
    const end = text.charAt(paren) === '(' ? (closing[paren] ?? 0) : 0;
    if (end === 0 || end >= to) return null;
    const label = text.slice(open + 1, close);
    const title = label.length > LONGEST_CONTENT ? null : textAfterSourceWord(unescapeMarkdown(label));
    if (title === null && paren > close + 1) return null;
    const url = parseLinkTarget(text.slice(paren + 1, end));
    if (url === null || (paren > close + 1 && !looksLikeAddress(url))) return null;
    const refs = label.length > LONGEST_CONTENT ? null : parseRefNumbers(label);
    if (refs !== null && !looksLikeAddress(url) && isArrayIndex(text, open)) return null;
    const named = title ?? (refs === null ? label : '');
    const prose = title === null && refs === null && findAddressEnd(label.trim(), 0, label.length) < 0;
    const references = [{ name: named.trim() === '' ? url : named, url }];
    // Images load without a click, the title of a source must not name another page, and a label may contain markers.
    const isPlainLink = prose && start === open && !/[[\]【]/.test(label) && !known.isTitle(label);
    const external = isPlainLink && known.isExternal?.(url) === true;
    return {
      ...toMarker(start, end + 1, references),
      label: prose ? label : null,
      ...(external && { external }),
    };
  }

  function bracketAt(open: number): CitationMarker | null {
    const close = closing[open] ?? 0;
    if (close === 0) return null;
    const end = close + 1;
    const content = close - open > LONGEST_CONTENT ? '' : unescapeMarkdown(text.slice(open + 1, close));
    const refs = parseRefNumbers(content);
    if (refs !== null) {
      if (text.charAt(end) === ':' && /(?:^|\n)[ \t>]*$/.test(text.slice(Math.max(0, open - 20), open)))
        return null;
      const isKnown = refs.some((ref) => known.knows(ref));
      const index = indexEnds.has(open) || isArrayIndex(text, open);
      if (isCitation(text, { start: open, end }, { refs, isKnown, index }))
        return toMarker(open, end, toReferences(refs));
      if (index) indexEnds.add(end);
      return null;
    }
    const title = textAfterSourceWord(content);
    if (title !== null && title.trim() !== '') return toMarker(open, end, parseReferences(title));
    if (content !== '' && known.isTitle(content)) return toMarker(open, end, toReferences([content]));
    if (isArrayIndex(text, open) || indexEnds.has(open)) indexEnds.add(end);
    return null;
  }

  function lenticularAt(open: number, to: number): CitationMarker | null {
    const close = closing[open] ?? 0;
    if (close === 0 || close >= to || close - open > LONGEST_CONTENT) return null;
    const content = text.slice(open + 1, close);
    const end = close + 1;
    const refs = parseRefNumbers(content);
    if (refs !== null) return toMarker(open, end, toReferences(refs));
    const name =
      textAfterSourceWord(content) ?? (content.includes('†') ? content.slice(0, content.indexOf('†')) : null);
    if (name !== null) return toMarker(open, end, parseReferences(name === '' ? content : name));
    return known.isTitle(content) ? toMarker(open, end, toReferences([content])) : null;
  }

  /** `(Source: title)`, possibly with other markers in it. */
  function parenthesisAt(open: number, to: number): CitationMarker | null {
    const close = closing[open] ?? 0;
    if (close === 0 || close >= to || close - open > LONGEST_CONTENT) return null;
    const content = text.slice(open + 1, close);
    const rest = textAfterSourceWord(content);
    if (rest === null || rest.trim() === '') return null;
    const inner = scanRange(close - rest.length, close).flatMap(({ references }) => references);
    const references = inner.length > 0 ? inner : parseReferences(unescapeMarkdown(rest));
    return toMarker(open, close + 1, references);
  }

  function sourceLineAt(start: number, to: number): CitationMarker | null {
    SOURCE_LINE.lastIndex = start;
    const word = SOURCE_LINE.exec(text)?.[0];
    if (word === undefined || start + word.length >= to) return null;
    const feed = text.indexOf('\n', start);
    const end = feed < 0 || feed > to ? to : feed;
    const rest = start + word.length;
    if (end - start > LONGEST_CONTENT) return null;
    const markers = scanRange(rest, end);
    const references = markers.flatMap((inner) => inner.references);
    if (references.length > 0) {
      // With much other text, it is a sentence that only starts like a source line.
      const others = end - rest - markers.reduce((sum, inner) => sum + inner.end - inner.start, 0);
      return others > LONGEST_PLAIN_SOURCE_LINE ? null : { ...toMarker(start, end, references), line: true };
    }
    const plain = text.slice(rest, end).trim();
    if (plain.length > LONGEST_PLAIN_SOURCE_LINE) return null;
    return { ...toMarker(start, end, parseReferences(plain)), line: true };
  }

  /** The sources in "title", "title; title" or "title, address". */
  function parseReferences(content: string): SourceReference[] {
    const name = content.trim().replace(/^["“”']+|["“”']+$/g, '');
    const whole = toReferences([name === '' ? content : name]);
    if (known.knows(name)) return whole;
    const refs = parseRefNumbers(name);
    if (refs !== null) return toReferences(refs);
    const addresses = findAddresses(content);
    if (addresses.length > 0) return addresses.map((url) => ({ name: url, url }));
    for (const separator of [/;/, /[;,]/]) {
      const parts = name.split(separator).filter((part) => part.trim() !== '');
      if (parts.some((part) => known.knows(part))) return toReferences(parts.map((part) => part.trim()));
    }
    return whole;
  }

  return { scanBlock };
}

function toMarker(start: number, end: number, references: SourceReference[]): CitationMarker {
  return { start, end, references, label: null, line: false };
}

function toReferences(names: readonly string[]): SourceReference[] {
  return names.map((name) => ({ name, url: null }));
}

function unescapeMarkdown(text: string): string {
  return text.includes('\\') ? text.replace(/\\([^\p{L}\p{N}\s])/gu, '$1') : text;
}

/** Names before a bracket that is an index rather than a citation. */
const CONTAINER_NAMES = new Set(
  `args argv arguments arr array arrays axes axis buffer cell cells col cols column columns data dict element
  elements entries entry frame frames grid index indices input inputs item items key keys line lines list lists
  map matrix node nodes object objects output outputs param params parts path pixel point points position queue
  result results row rows samples shape stack state states sys tensor tuple value values vec vector`.split(
    /\s+/,
  ),
);

/** Whether the bracket at `open` is an index: `list[0]`, `a[1]`, `node.names[2]`. */
export function isArrayIndex(text: string, open: number): boolean {
  const before = text.slice(Math.max(0, open - BRACKET_CONTEXT), open);
  const word = /[\p{L}\p{N}\p{M}_$]+$/u.exec(before)?.[0];
  if (word === undefined || /^\d+$/.test(word)) return false;
  if (/[_$]|^\p{Ll}[\p{Ll}\d]*\p{Lu}/u.test(word) || CONTAINER_NAMES.has(word)) return true;
  if (before.charAt(before.length - word.length - 1) === '.') return true;
  return word.length < 3 && !/^\p{Lu}+$/u.test(word) && !/[^\p{ASCII}]/u.test(word);
}

/** The text after "Source:", or null without it. */
function textAfterSourceWord(content: string): string | null {
  const word = SOURCE_WORD.exec(content);
  return word === null ? null : content.slice(word[0].length);
}
