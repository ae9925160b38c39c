import { type Block, codeWithin, findBlocks, type Range } from '../text/markdown-blocks.ts';
import { splitSentences } from '../text/split-sentences.ts';
import type { Marker } from './find-markers.ts';

export interface Claim extends Range {
  /** The sentence without its markers. */
  text: string;
  /** The same as it stands in the answer, character for character, with blanks for its markers. */
  written: string;
  markers: Marker[];
  /** A sentence that cites as it goes, "This [1], and that [2].", in parts; empty if it is to be read as a whole. */
  parts: ClaimPart[];
}

export interface ClaimPart {
  text: string;
  markers: Marker[];
}

/** A claim whose words are not looked at yet. */
interface UnreadClaim extends Range {
  heading: boolean;
  markers: Marker[];
}

/** Fewer words between two markers say nothing on their own. */
const SHORTEST_PART = 4;

/**
 * The sentences of an answer, each with the markers that stand in it or follow it: one after the full stop
 * belongs to the sentence before it. A marker covers its own sentence only. Headings, questions and lines that
 * lead in a list count only if they cite something. Code is a claim where a marker stands alone below it, and so is
 * every row of a table. Markers must be in order, as `findMarkers` gives them.
 */
export function splitClaims(answer: string, markers: readonly Marker[]): Claim[] {
  const masked = maskMarkers(answer, markers);
  const blocks = findBlocks(masked);
  const rows = citedRows(answer, masked, blocks, markers);
  const sentences = splitSentences(masked, blocks)
    .filter(({ start }) => !rows.some((row) => row.start <= start && start < row.end))
    .map(({ start, end, heading }) => ({ start, end, heading, markers: [] as Marker[] }));
  const claims = [...sentences, ...rows, ...citedCode(answer, masked, blocks, markers)]
    .filter(({ start, end }) => /[\p{L}\p{N}]/u.test(masked.slice(start, end)))
    .sort((a, b) => a.start - b.start);
  const ofRows = new Set(rows.flatMap((row) => row.markers));
  const lineAt = countLines(masked);
  const sameLine = (from: number, to: number) => lineAt[from] === lineAt[to];
  let current = 0;
  for (const marker of markers) {
    // A link that is no citation: its text is part of the sentence.
    if (marker.references.length === 0 || ofRows.has(marker)) continue;
    while (current + 1 < claims.length && (claims[current + 1]?.start ?? 0) < marker.end) current += 1;
    const began = claims[current];
    const before = began !== undefined && began.start < marker.end ? began : undefined;
    const next = before === undefined ? began : claims[current + 1];
    // A marker that opens a line belongs to the sentence after it; any other to the one that began before it.
    const opensLine =
      before === undefined || (before.end <= marker.start && !sameLine(before.end, marker.start));
    const opens = opensLine && next !== undefined && sameLine(marker.end, next.start);
    (opens ? next : (before ?? next))?.markers.push(marker);
  }
  return claims.flatMap(({ start, end, heading, markers }) => {
    const written = masked.slice(start, end);
    const text = tidy(written);
    if (markers.length === 0 && (heading || /[:?]["'”’)*_]*$/.test(text))) return [];
    return [{ start, end, text, written, markers, parts: partsOf(masked, { start, end }, markers) }];
  });
}

/** What stands in fences and is cited by the marker in the line below. */
function citedCode(
  answer: string,
  masked: string,
  blocks: readonly Block[],
  markers: readonly Marker[],
): UnreadClaim[] {
  return blocks.flatMap(({ kind, start, end }) => {
    if (kind !== 'code' || markersBelow(answer, end, markers).length === 0) return [];
    return [{ ...codeWithin(masked, { start, end }), heading: false, markers: [] }];
  });
}

/** The rows of the tables that are cited by what stands alone below them, each with all of these markers. */
function citedRows(
  answer: string,
  masked: string,
  blocks: readonly Block[],
  markers: readonly Marker[],
): UnreadClaim[] {
  const cited: UnreadClaim[] = [];
  let rows: UnreadClaim[] = [];
  blocks.forEach(({ start, end }, index) => {
    const line = masked.slice(start, end);
    // What stands above the rule names the columns.
    if (rows.length === 1 && /^[\s|:-]+$/.test(line)) rows = [];
    else if (/^\s*\|/.test(line)) rows.push({ start, end, heading: false, markers: [] });
    const next = blocks[index + 1];
    if (next !== undefined && next.start <= end + 1) return;
    const below = rows.length === 0 ? [] : markersBelow(answer, end, markers);
    if (below.length > 0) cited.push(...rows.map((row) => ({ ...row, markers: below })));
    rows = [];
  });
  return cited;
}

/** The markers in the next line that holds something, if it holds nothing else. */
function markersBelow(answer: string, end: number, markers: readonly Marker[]): Marker[] {
  const start = end + (/^\s*/.exec(answer.slice(end))?.[0].length ?? 0);
  const found: Marker[] = [];
  for (let at = start; ; ) {
    const marker = markers.find((one) => one.start === at);
    if (marker === undefined) return /^[^\n]*[\p{L}\p{N}]/u.test(answer.slice(at)) ? [] : found;
    found.push(marker);
    at = marker.end + (/^[ \t]*/.exec(answer.slice(marker.end))?.[0].length ?? 0);
  }
}

function partsOf(masked: string, claim: Range, markers: readonly Marker[]): ClaimPart[] {
  const parts: ClaimPart[] = [];
  let from = claim.start;
  for (const marker of markers) {
    const text = tidy(masked.slice(from, Math.max(from, marker.start)));
    const last = parts.at(-1);
    if (/[\p{L}\p{N}]/u.test(text)) parts.push({ text, markers: [marker] });
    else if (last !== undefined) last.markers.push(marker);
    from = marker.end;
  }
  const rest = masked.slice(from, Math.max(from, claim.end));
  const isWhole = parts.length < 2 || /[\p{L}\p{N}]/u.test(rest);
  return isWhole || parts.some(({ text }) => text.split(' ').length < SHORTEST_PART) ? [] : parts;
}

/** Where some characters of a claim's text stand in the answer. */
export function rangeInAnswer({ start, text, written }: Claim, range: Range): Range {
  // All that the text lacks is blanks and empty parentheses: its letters stand in the same order.
  let at = -1;
  let first = 0;
  for (let index = 0; index < range.end; index += 1) {
    if (text.charAt(index) !== ' ') at = written.indexOf(text.charAt(index), at + 1);
    if (index === range.start) first = at;
  }
  return { start: start + first, end: start + at + 1 };
}

/** The answer with as many characters, in which markers are blank but for the text of links. */
function maskMarkers(answer: string, markers: readonly Marker[]): string {
  let masked = '';
  let at = 0;
  for (const { start, end, label } of markers) {
    const shown = label === null ? '' : ' '.repeat(answer.indexOf(label, start) - start) + label;
    masked += `${answer.slice(at, start)}${shown.replace(/\n/g, ' ').padEnd(end - start)}`;
    at = end;
  }
  return masked + answer.slice(at);
}

/** The number of the line at every position. */
function countLines(text: string): Uint32Array {
  const lines = new Uint32Array(text.length + 1);
  let line = 0;
  for (let at = 0; at < text.length; at += 1) {
    lines[at] = line;
    if (text.charAt(at) === '\n') line += 1;
  }
  lines[text.length] = line;
  return lines;
}

function tidy(text: string): string {
  return (
    text
      .replace(/\s+/g, ' ')
      // What a marker leaves behind; `main()` is nothing of the kind.
      .replace(/ ?\( \)/g, '')
      .replace(/ (?=[.,;:!?](?:\s|$))/g, '')
      .trim()
  );
}
