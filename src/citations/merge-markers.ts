import { replaceRanges, type TextEdit, type TextRange } from '../text/markdown-blocks.ts';
import { findMarkers } from './find-markers.ts';

// The chat page uses this file, so it must not depend on zod.

/** Neighbouring markers such as `[1][2]`, with the spaces before them. */
interface MarkerGroup extends TextRange {
  markers: string;
}

/** What may follow a marker whose next sentence, list item or table row is in `rest`. */
const CONTINUES =
  /^[.!?,;:"'”’)*_|]{0,9}(?:[ \t|]{0,9}\n[ \t>]{0,20}(?:[-*+•]|\d{1,9}[.)]|\|)(?=[ \t]))?(?<rest>[^\n]*)$/;
const SENTENCE_BREAK = /[.!?]["'”’)]*\s+\S/;

/**
 * An answer for people: where consecutive sentences, items or rows cite the same sources, only the last one has the
 * marker. Answers are stored with a marker per sentence, which the check needs.
 */
export function mergeMarkers(answer: string): string {
  return replaceRanges(answer, findMergeEdits(answer));
}

/** The edits of `mergeMarkers`. */
export function findMergeEdits(text: string): TextEdit[] {
  const groups = findGroups(text);
  return groups.flatMap(({ start, end, markers }, index) => {
    const next = groups[index + 1];
    if (next?.markers !== markers) return [];
    const rest = CONTINUES.exec(text.slice(end, next.start))?.groups?.rest ?? '';
    return /[\p{L}\p{N}]/u.test(rest) && !SENTENCE_BREAK.test(rest) ? [{ start, end, text: '' }] : [];
  });
}

function findGroups(text: string): MarkerGroup[] {
  const groups: MarkerGroup[] = [];
  // Numbers in brackets are markers, except where `findMarkers` takes them for an index or a range.
  for (const { start, end } of findMarkers(text, (ref) => /^\d+$/.test(ref))) {
    const last = groups.at(-1);
    if (last?.end === start) {
      last.end = end;
      last.markers += text.slice(start, end);
      continue;
    }
    let from = start;
    while (/[ \t]/.test(text.charAt(from - 1))) from -= 1;
    groups.push({ start: from, end, markers: text.slice(start, end) });
  }
  return groups;
}

/** Markers at the end of a text, which others may follow. */
const OPEN_MARKERS = /(?:[ \t]*\[[^[\]]*\])*[ \t]*(?:\[[^[\]]*)?$/;
const LONGEST_OPEN = 200;

/** Merges the markers of a text that is printed while it is generated: text after a marker waits for the next one. */
export function createMarkerMerger(write: (text: string) => void) {
  let source = '';
  let shown = 0;
  let isWaiting = false;

  function showUntil(end: number, text: string): void {
    if (end <= shown) return;
    const from = shown;
    const edits = findMergeEdits(text).filter((edit) => edit.start >= from && edit.end <= end);
    shown = end;
    const moved = edits.map((edit) => ({ ...edit, start: edit.start - from, end: edit.end - from }));
    write(replaceRanges(text.slice(from, end), moved));
  }

  return {
    push(delta: string): void {
      source += delta;
      if (isWaiting && !/[\]\n]/.test(delta)) return;
      const tail = Math.max(0, source.length - LONGEST_OPEN);
      const text = source.slice(0, tail) + source.slice(tail).replace(OPEN_MARKERS, '');
      const last = findGroups(text).at(-1);
      isWaiting = last !== undefined && last.start >= shown && text.slice(last.end).split('\n').length < 3;
      showUntil(isWaiting ? (last?.start ?? 0) : text.length, text);
    },
    end: () => showUntil(source.length, source),
  };
}
