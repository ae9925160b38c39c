import { findMarkdownBlocks, type TextRange } from '../text/markdown-blocks.ts';
import type { CitationMarker } from './find-markers.ts';

const SECTION_NAME =
  '(?:sources?(?: (?:used|cited|consulted))?|references?|citations?|bibliography|works cited|footnotes|further reading)';
/** A line with only the name of the section: `## Sources`, `**References:**`, `Sources:`. */
const TITLE_LINE = new RegExp(`^[\\s#>*_-]{0,20}${SECTION_NAME}\\s?:?[*_]{0,3}\\s?:?[*_]{0,3}\\s*$`, 'i');
/** A section on one line: `Sources: [1], [2]`. A single source belongs to the sentence before it instead. */
const INLINE_SECTION = /^[\s*_]{0,10}(?:sources|references|citations)[*_]{0,3}:[*_]{0,3}\s+\S/i;
const LIST_ITEM = /^[ \t>]*(?:[-*+•]|\d{1,9}[.)]|\[\^?\w{1,20}\]:?)[ \t]/;
const LONGEST_ENTRY = 300;
/** Characters that an entry may have besides its marker, if it is not a list item. */
const BESIDES_MARKER = 80;

/** Below this title any list is a list of sources; below others an entry must refer to a source. */
const CERTAIN_TITLE = /^[\s*_]{0,10}sources(?: (?:used|cited|consulted))?[*_]{0,3}:/i;

/**
 * The start of the list of sources that a model wrote below its answer, or the length of the answer if there is none.
 * Every line below the title must look like an entry, and the answer must not become empty.
 */
export function findSourcesSection(
  answer: string,
  markers: readonly CitationMarker[],
  knows: (reference: string) => boolean,
): number {
  const code = findMarkdownBlocks(answer).filter(({ kind }) => kind === 'code');
  let start = answer.length;
  let marker = markers.length - 1;
  let refersToSource = false;
  for (const line of linesInReverse(answer)) {
    const text = answer.slice(line.start, line.end);
    if (text.trim() === '') continue;
    if (text.length > LONGEST_ENTRY || isInside(code, line.start)) break;
    while (marker >= 0 && (markers[marker]?.start ?? 0) >= line.end) marker -= 1;
    const last = markers[marker];
    const lineMarker = last !== undefined && last.start >= line.start ? last : null;
    if (TITLE_LINE.test(text) || INLINE_SECTION.test(text)) {
      if (refersToSource || lineMarker !== null || CERTAIN_TITLE.test(text)) start = line.start;
      continue;
    }
    const isItem = LIST_ITEM.test(text);
    const isMostlyMarker =
      lineMarker !== null && text.trim().length - (lineMarker.end - lineMarker.start) <= BESIDES_MARKER;
    if (!isItem && !isMostlyMarker) break;
    refersToSource ||= lineMarker !== null || knows(text.replace(LIST_ITEM, ''));
  }
  return /[\p{L}\p{N}]/u.test(answer.slice(0, start)) ? start : answer.length;
}

const DEFINITION = /^(?:[ \t]|>)*\[(\^?[^\]\n]{1,200})\]:[ \t]*(.*)$/;

/** Definitions of footnotes and link targets such as `[1]: address`, which would turn `[1]` into a link. */
export function findLinkDefinitions(answer: string): TextRange[] {
  const definitions: TextRange[] = [];
  for (const block of findMarkdownBlocks(answer)) {
    if (block.kind === 'code') continue;
    for (let start = block.start; start < block.end; ) {
      const feed = answer.indexOf('\n', start);
      const end = feed < 0 || feed > block.end ? block.end : feed;
      if (isDefinition(answer.slice(start, Math.min(end, start + 2000)))) definitions.push({ start, end });
      start = end + 1;
    }
  }
  return definitions;
}

function isDefinition(line: string): boolean {
  const [, label, target = ''] = DEFINITION.exec(line) ?? [];
  if (label === undefined) return false;
  if (/^(?:\^.*|\d+)$/.test(label)) return true;
  return /^<?\S+>?(?:\s+["'(].*)?\s*$/.test(target);
}

function* linesInReverse(text: string): Generator<TextRange> {
  for (let end = text.length; end >= 0; ) {
    const feed = end === 0 ? -1 : text.lastIndexOf('\n', end - 1);
    yield { start: feed + 1, end };
    if (feed < 0) return;
    end = feed;
  }
}

function isInside(ranges: readonly TextRange[], at: number): boolean {
  return ranges.some(({ start, end }) => start <= at && at < end);
}
