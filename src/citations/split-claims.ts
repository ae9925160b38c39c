import {
  findInnerCode,
  findMarkdownBlocks,
  type MarkdownBlock,
  replaceRanges,
  type TextRange,
} from '../text/markdown-blocks.ts';
import { splitSentences } from '../text/split-sentences.ts';
import type { CitationMarker } from './find-markers.ts';

export interface AnswerClaim extends TextRange {
  /** The sentence without its markers. */
  text: string;
  markers: CitationMarker[];
  /** The parts of a sentence that cite their own sources: "This [1], and that [2]." Else empty. */
  parts: ClaimPart[];
}

export interface ClaimPart {
  text: string;
  markers: CitationMarker[];
}

/** The range of a claim with its markers. */
interface ClaimRange extends TextRange {
  heading: boolean;
  markers: CitationMarker[];
}

/** Fewer words between two markers are no claim. */
const SHORTEST_PART = 4;

/**
 * The sentences of an answer, each with the markers in it or directly after it. Headings, questions and lines that
 * introduce a list are claims only if they cite something. Code and table rows are claims if a line of markers follows
 * them. Markers must be in order, as `findMarkers` returns them.
 */
export function splitClaims(answer: string, markers: readonly CitationMarker[]): AnswerClaim[] {
  const masked = maskMarkers(answer, markers);
  const blocks = findMarkdownBlocks(masked);
  const { code, rows } = findCitedBlocks(answer, masked, blocks, markers);
  const sentences = splitSentences(masked, blocks)
    .filter(({ start }) => !rows.some((row) => row.start <= start && start < row.end))
    .map(({ start, end, heading }) => ({ start, end, heading, markers: [] as CitationMarker[] }));
  const claims = [...sentences, ...rows, ...code]
    .filter(({ start, end }) => /[\p{L}\p{N}]/u.test(masked.slice(start, end)))
    .sort((a, b) => a.start - b.start);
  const ofRows = new Set(rows.flatMap((row) => row.markers));
  const isSameLine = (from: number, to: number) => !masked.slice(from, to).includes('\n');
  let current = 0;
  for (const marker of markers) {
    // A link that cites nothing is part of the sentence.
    if (marker.references.length === 0 || ofRows.has(marker)) continue;
    while (current + 1 < claims.length && (claims[current + 1]?.start ?? 0) < marker.end) current += 1;
    const began = claims[current];
    const before = began !== undefined && began.start < marker.end ? began : undefined;
    const next = before === undefined ? began : claims[current + 1];
    // A marker at the start of a line belongs to the sentence after it, any other to the sentence before it.
    const opensLine =
      before === undefined || (before.end <= marker.start && !isSameLine(before.end, marker.start));
    const opens = opensLine && next !== undefined && isSameLine(marker.end, next.start);
    (opens ? next : (before ?? next))?.markers.push(marker);
  }
  return claims.flatMap(({ start, end, heading, markers }) => {
    const text = normalizeSpaces(masked.slice(start, end));
    if (markers.length === 0 && (heading || /[:?]["'”’)*_]*$/.test(text))) return [];
    return [{ start, end, text, markers, parts: splitParts(masked, { start, end }, markers) }];
  });
}

/** The code blocks and the table rows with a line of markers below them. All of these markers belong to each row. */
function findCitedBlocks(
  answer: string,
  masked: string,
  blocks: readonly MarkdownBlock[],
  markers: readonly CitationMarker[],
): { code: ClaimRange[]; rows: ClaimRange[] } {
  const code: ClaimRange[] = [];
  const rows: ClaimRange[] = [];
  let table: TextRange[] = [];
  blocks.forEach(({ kind, start, end }, index) => {
    const line = masked.slice(start, end);
    // The row above the rule is the header.
    if (table.length === 1 && /^[\s|:-]+$/.test(line)) table = [];
    else if (kind === 'text' && /^\s*\|/.test(line)) table.push({ start, end });
    const next = blocks[index + 1];
    if (kind !== 'code' && (table.length === 0 || (next !== undefined && next.start <= end + 1))) return;
    const below = markersBelow(answer, end, markers);
    if (below.length > 0) {
      if (kind === 'code')
        code.push({ ...findInnerCode(masked, { start, end }), heading: false, markers: [] });
      rows.push(...table.map((row) => ({ ...row, heading: false, markers: below })));
    }
    table = [];
  });
  return { code, rows };
}

/** The markers of the next line with text, if it has nothing else. */
function markersBelow(answer: string, end: number, markers: readonly CitationMarker[]): CitationMarker[] {
  const start = end + (/^\s*/.exec(answer.slice(end))?.[0].length ?? 0);
  const found: CitationMarker[] = [];
  for (let at = start; ; ) {
    const marker = markers.find((one) => one.start === at);
    if (marker === undefined) return /^[^\n]*[\p{L}\p{N}]/u.test(answer.slice(at)) ? [] : found;
    found.push(marker);
    at = marker.end + (/^[ \t]*/.exec(answer.slice(marker.end))?.[0].length ?? 0);
  }
}

function splitParts(masked: string, claim: TextRange, markers: readonly CitationMarker[]): ClaimPart[] {
  const parts: ClaimPart[] = [];
  let from = claim.start;
  for (const marker of markers) {
    const text = normalizeSpaces(masked.slice(from, Math.max(from, marker.start)));
    const last = parts.at(-1);
    if (/[\p{L}\p{N}]/u.test(text)) parts.push({ text, markers: [marker] });
    else if (last !== undefined) last.markers.push(marker);
    from = marker.end;
  }
  const rest = masked.slice(from, Math.max(from, claim.end));
  const isWhole = parts.length < 2 || /[\p{L}\p{N}]/u.test(rest);
  return isWhole || parts.some(({ text }) => text.split(' ').length < SHORTEST_PART) ? [] : parts;
}

/** Replaces markers by blanks, except for the text of links. Keeps the length. */
function maskMarkers(answer: string, markers: readonly CitationMarker[]): string {
  const edits = markers.map(({ start, end, label }) => {
    const shown = label === null ? '' : ' '.repeat(answer.indexOf(label, start) - start) + label;
    return { start, end, text: shown.replace(/\n/g, ' ').padEnd(end - start) };
  });
  return replaceRanges(answer, edits);
}

function normalizeSpaces(text: string): string {
  return (
    text
      .replace(/\s+/g, ' ')
      // Left over from a marker, unlike `main()`.
      .replace(/ ?\( \)/g, '')
      .replace(/ (?=[.,;:!?](?:\s|$))/g, '')
      .trim()
  );
}
