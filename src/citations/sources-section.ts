import { findMarkdownBlocks, type TextRange } from '../text/markdown-blocks.ts';
import type { CitationMarker } from './find-markers.ts';

/** A line with only the name of the section: `## Sources`, `**References:**`, `Sources:`. */
const TITLE_LINE =
  /^[\s#>*_-]{0,20}(?:sources?(?: (?:used|cited|consulted))?|references?|citations?|bibliography|works cited|footnotes|further reading)[\s:*_]{0,6}$/i;
/** A section on one line: `Sources: [1], [2]`. A single source belongs to the sentence before it instead. */
const INLINE_SECTION = /^[\s*_]{0,10}(?:sources|references|citations)[*_]{0,3}:[*_]{0,3}\s+\S/i;
/** Below this title any list is a list of sources; below others an entry must refer to a source. */
const CERTAIN_TITLE = /^[\s*_]{0,10}sources(?: (?:used|cited|consulted))?[*_]{0,3}:/i;
const LIST_ITEM = /^[ \t>]*(?:[-*+•]|\d{1,9}[.)]|\[\^?\w{1,20}\]:?)[ \t]/;
const LONGEST_ENTRY = 300;
/** Characters that an entry may have besides its marker, if it is not a list item. */
const BESIDES_MARKER = 80;

/**
 * The start of the list of sources that a model wrote below its answer, or the length of the answer if there is none.
 * Every line below the title must look like an entry, and the answer must not become empty.
 */
export function findSourcesSection(
  answer: string,
  markers: readonly CitationMarker[],
  knows: (reference: string) => boolean,
): number {
  let section = answer.length;
  let refersToSource = false;
  const above = [...markers];
  let end = answer.length;
  for (const line of answer.split('\n').reverse()) {
    const start = end - line.length;
    while ((above.at(-1)?.start ?? -1) >= end) above.pop();
    const last = above.at(-1);
    const marker = last !== undefined && last.start >= start ? last : null;
    end = start - 1;
    if (line.trim() === '') continue;
    if (TITLE_LINE.test(line) || INLINE_SECTION.test(line)) {
      if (refersToSource || marker !== null || CERTAIN_TITLE.test(line)) section = start;
      continue;
    }
    const markerLength = marker === null ? Number.NEGATIVE_INFINITY : marker.end - marker.start;
    const isEntry = LIST_ITEM.test(line) || line.trim().length - markerLength <= BESIDES_MARKER;
    if (line.length > LONGEST_ENTRY || !isEntry) break;
    refersToSource ||= marker !== null || knows(line.replace(LIST_ITEM, ''));
  }
  return /[\p{L}\p{N}]/u.test(answer.slice(0, section)) ? section : answer.length;
}

/** Definitions of footnotes and link targets such as `[1]: address`, which would turn `[1]` into a link. */
const DEFINITION =
  /^(?:[ \t]|>)*\[(?:(?:\^[^\]\n]{1,200}|\d{1,9})\]:.*|[^\]\n]{1,200}\]:[ \t]*<?\S+>?(?:\s+["'(].*)?\s*)$/gm;

export function findLinkDefinitions(answer: string): TextRange[] {
  return findMarkdownBlocks(answer).flatMap(({ kind, start, end }) =>
    kind === 'code'
      ? []
      : Array.from(answer.slice(start, end).matchAll(DEFINITION), ({ 0: line, index }) => ({
          start: start + index,
          end: start + index + line.length,
        })),
  );
}
