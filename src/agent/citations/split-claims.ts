import type { Marker } from './find-markers.ts';
import type { Range } from './markdown-blocks.ts';
import { splitSentences } from './split-sentences.ts';

export interface Claim extends Range {
  /** The sentence without its markers. */
  text: string;
  markers: Marker[];
}

/**
 * The sentences of an answer, each with the markers that stand in it or follow it: one after the full stop
 * belongs to the sentence before it. A marker covers its own sentence only. Headings, questions and lines that
 * lead in a list count only if they cite something. Markers must be in order, as `findMarkers` gives them.
 */
export function splitClaims(answer: string, markers: readonly Marker[]): Claim[] {
  const masked = maskMarkers(answer, markers);
  const sentences = splitSentences(masked);
  const claims = sentences.map(({ start, end, block, heading }) => {
    const markersOfClaim: Marker[] = [];
    return { start, end, block, heading, markers: markersOfClaim };
  });
  const lineAt = countLines(masked);
  const sameLine = (from: number, to: number) => lineAt[from] === lineAt[to];
  let current = 0;
  for (const marker of markers) {
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
  return claims
    .map(({ start, end, heading, markers }) => ({
      start,
      end,
      heading,
      markers,
      text: tidy(masked.slice(start, end)),
    }))
    .filter(({ text, heading, markers }) => {
      if (!/[\p{L}\p{N}]/u.test(text)) return false;
      return markers.length > 0 || !(heading || /[:?]["'”’)*_]*$/.test(text));
    })
    .map(({ start, end, text, markers }) => ({ start, end, text, markers }));
}

/** The answer with as many characters, in which markers are blank but for the text of links. */
function maskMarkers(answer: string, markers: readonly Marker[]): string {
  let masked = '';
  let at = 0;
  for (const { start, end, label } of markers) {
    masked += `${answer.slice(at, start)}${(label ?? '').replace(/\n/g, ' ').padEnd(end - start)}`;
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
  return text
    .replace(/\s+/g, ' ')
    .replace(/ (?=[.,;:!?](?:\s|$))/g, '')
    .replace(/\( ?\)/g, '')
    .trim();
}
