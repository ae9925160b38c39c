import { replaceRanges, type TextRange } from '../text/markdown-blocks.ts';
import type { CitationMarker } from './find-markers.ts';

export interface ResolvedMarker {
  marker: CitationMarker;
  /** The refs of its sources; empty if all of them are unknown. */
  refs: string[];
}

interface Edit extends TextRange {
  text: string;
}

/** Text between markers that are merged. */
const BETWEEN = /^[ \t]*(?:[,;&][ \t]*)?(?:and[ \t]+)?$/;
const LONGEST_BETWEEN = 12;
const WRAPPERS: Record<string, string> = { '(': ')', '[': ']', '【': '】', '（': '）' };
const LEAD_IN =
  /\(\s*(?:see(?: also)?|cf\.?|from|per|via|e\.g\.,?|i\.e\.,?|sources?|refs?|references?|according to|as in)?[\s:,]*$/i;
const LOOK_BACK = 40;

/**
 * Writes every known marker as `[n]` and removes unknown ones together with the spaces, commas and parentheses that
 * would be left over. Markers must be in order.
 */
export function rewriteMarkers(answer: string, resolved: readonly ResolvedMarker[]): string {
  const edits: Edit[] = [];
  let floor = 0;
  for (const group of groupMarkers(answer, resolved)) {
    const edit = toEdit(answer, group, floor);
    edits.push(edit);
    floor = edit.end;
  }
  return replaceRanges(answer, edits);
}

/** Groups neighbouring markers such as `[1], [2]`. A link whose text stays starts a group. */
function groupMarkers(answer: string, resolved: readonly ResolvedMarker[]): ResolvedMarker[][] {
  const groups: ResolvedMarker[][] = [];
  for (const one of resolved) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    const joins =
      last !== undefined &&
      one.marker.label === null &&
      one.marker.start - last.marker.end <= LONGEST_BETWEEN &&
      BETWEEN.test(answer.slice(last.marker.end, one.marker.start));
    if (joins && group !== undefined) group.push(one);
    else groups.push([one]);
  }
  return groups;
}

function toEdit(answer: string, group: readonly ResolvedMarker[], floor: number): Edit {
  const first = group[0]?.marker;
  const range = { start: first?.start ?? 0, end: group.at(-1)?.marker.end ?? 0 };
  const refs = new Set(group.flatMap((one) => one.refs));
  const written = Array.from(refs, (ref) => `[${ref}]`).join('');
  const label = labelToKeep(answer, range, first);
  if (label !== '') return { ...range, text: written === '' ? label : `${label} ${written}` };
  const bare = includeWrappers(answer, range, floor);
  if (written === '') return toRemoval(answer, bare, floor);
  return first?.line === true ? moveToParagraph(answer, bare, floor, written) : { ...bare, text: written };
}

/** The text of a link to keep; empty if it only names the source after the end of a sentence. */
function labelToKeep(answer: string, range: TextRange, marker: CitationMarker | undefined): string {
  const label = marker?.label?.trim() ?? '';
  if (label === '') return '';
  const before = answer.slice(Math.max(0, range.start - LOOK_BACK), range.start);
  const after = answer.slice(range.end, range.end + LOOK_BACK);
  const alone = /[.!?]["'”’)]*[ \t]+$/.test(before) && /^[ \t]*(?:$|\n|[[【])/.test(after);
  const wrapped = /[\s.]\($/.test(before) && after.startsWith(')');
  return alone || wrapped ? '' : label;
}

/** Extends a range by the parentheses or emphasis around it, which would be empty. */
function includeWrappers(answer: string, range: TextRange, floor: number): TextRange {
  let { start, end } = range;
  for (let depth = 0; depth < 4; depth += 1) {
    const left = skipBack(answer, start, floor);
    const right = skipForward(answer, end);
    const open = answer.charAt(left - 1);
    const close = answer.charAt(right);
    const glued = open === '(' && /[\p{L}\p{N}_\]]/u.test(answer.charAt(left - 2));
    const isPair = WRAPPERS[open] === close && close !== '' && !glued;
    const isEmphasis = (open === '*' || open === '_') && close === open && left === start && right === end;
    if (left - 1 < floor || !(isPair || isEmphasis)) break;
    start = left - 1;
    end = right + 1;
  }
  return { start, end };
}

function toRemoval(answer: string, range: TextRange, floor: number): Edit {
  let { start, end } = range;
  const leadIn = LEAD_IN.exec(answer.slice(Math.max(floor, start - LOOK_BACK), start))?.[0];
  if (leadIn !== undefined && answer.charAt(skipForward(answer, end)) === ')') {
    start -= leadIn.length;
    end = skipForward(answer, end) + 1;
  }
  const left = skipBack(answer, start, floor);
  const right = skipForward(answer, end);
  const before = left === 0 ? '\n' : answer.charAt(left - 1);
  const after = right === answer.length ? '\n' : answer.charAt(right);
  const line = emptiedLine(answer, left, right, floor);
  if (line !== null) return { ...line, text: '' };
  if (after === '\n')
    return { start: /[,;]/.test(before) && left > floor ? left - 1 : left, end: right, text: '' };
  if (before === '\n') return { start, end: right, text: '' };
  if (/[.,;:!?)\]]/.test(after)) {
    if (/[([]/.test(before) && /[,;]/.test(after))
      return { start: left, end: skipForward(answer, right + 1), text: '' };
    if (/[,;]/.test(before) && left > floor) return { start: left - 1, end: right, text: '' };
    if (/[.!?]/.test(before) && /[.,;!?]/.test(after) && isSingleMark(answer, right)) {
      return { start: left, end: right + 1, text: '' };
    }
    return { start: left, end: right, text: '' };
  }
  if (/[([]/.test(before)) return { start: left, end: right, text: '' };
  return { start: left, end: right, text: left < start || right > end ? ' ' : '' };
}

/** Whether a punctuation mark is single: not part of an ellipsis or a number. */
function isSingleMark(answer: string, at: number): boolean {
  return /^(?:\s|$)/.test(answer.slice(at + 1, at + 2));
}

/** The whole line and a blank line next to it, if only a bullet would be left of the line; else null. */
function emptiedLine(answer: string, left: number, right: number, floor: number): TextRange | null {
  if (right < answer.length && answer.charAt(right) !== '\n') return null;
  const lineStart = answer.lastIndexOf('\n', left - 1) + 1;
  const start = left === 0 ? 0 : lineStart;
  if (start < floor || left - start > LOOK_BACK) return null;
  if (
    !/^[ \t>]*(?:(?:[-*+•]|\d{1,9}[.)])[ \t]*)?(?:\[[ xX]\])?[ \t]*(?:(?:sources?|see)[ \t]*:?)?[*_ \t]*$/i.test(
      answer.slice(start, left),
    )
  )
    return null;
  if (right === answer.length) return { start: skipBack(answer, start, floor, /\s/), end: right };
  const blankBefore = start === 0 || (start >= 2 && answer.charAt(start - 2) === '\n');
  let end = right + 1;
  while (blankBefore && answer.charAt(end) === '\n') end += 1;
  return { start, end };
}

/** Moves the refs of a line that only names sources to the end of the paragraph before it. */
function moveToParagraph(answer: string, range: TextRange, floor: number, written: string): Edit {
  const start = skipBack(answer, range.start, floor, /\s/);
  const lineBefore = answer.slice(answer.lastIndexOf('\n', start - 1) + 1, start);
  const joins = start > floor && start < range.start && !/^(?:\s*(?:#|\||```|~~~)| {4}|\t)/.test(lineBefore);
  return joins ? { start, end: range.end, text: ` ${written}` } : { ...range, text: written };
}

function skipBack(text: string, from: number, floor: number, skipped = /[ \t]/): number {
  let at = from;
  while (at > floor && skipped.test(text.charAt(at - 1))) at -= 1;
  return at;
}

function skipForward(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[ \t]/.test(text.charAt(at))) at += 1;
  return at;
}
