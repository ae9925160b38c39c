import {
  findMarkdownBlocks,
  type MarkdownBlock,
  replaceRanges,
  type TextEdit,
  type TextRange,
} from '../text/markdown-blocks.ts';
import { findMarkers } from './find-markers.ts';

// The chat page uses this file, so it must not depend on zod.

/** Neighbouring markers such as `[1][2]`, with the white space before them. */
interface MarkerGroup extends TextRange {
  block: MarkdownBlock;
  /** The markers as written. */
  text: string;
}

/** Numbers in brackets are markers, except where `findMarkers` takes them for an index or a range. */
const NUMBERS = { knows: (ref: string) => /^\d+$/.test(ref) };

/**
 * An answer for people: where consecutive sentences of a paragraph, a list or a table cite the same sources, only the last
 * one has the marker, and markers below code or a table stand in the text above it. Answers are stored with a marker per
 * sentence, which the check needs.
 */
export function mergeMarkers(answer: string): string {
  return replaceRanges(answer, findMergeEdits(answer));
}

/** The edits of `mergeMarkers`. The first `shown` characters can no longer change. */
export function findMergeEdits(text: string, shown = 0): TextEdit[] {
  const blocks = findMarkdownBlocks(text);
  const groups = findGroups(text, blocks);
  const edits: TextEdit[] = [];
  groups.forEach((group, index) => {
    const next = groups[index + 1];
    if (isAlone(group)) edits.push(...moveUp(text, blocks, groups.slice(0, index + 1), shown));
    else if (next !== undefined && isRepeated(text, blocks, group, next)) edits.push({ ...group, text: '' });
  });
  return edits.filter(({ start }) => start >= shown).toSorted((a, b) => a.start - b.start);
}

function findGroups(text: string, blocks: readonly MarkdownBlock[]): MarkerGroup[] {
  const groups: MarkerGroup[] = [];
  for (const { start, end, label } of findMarkers(text, NUMBERS)) {
    const block = blocks.find((each) => each.start <= start && end <= each.end);
    if (label !== null || block === undefined) continue;
    const last = groups.at(-1);
    if (last?.end === start) {
      last.end = end;
      last.text += text.slice(start, end);
      continue;
    }
    const before = text.slice(block.content, start);
    const from = block.content + before.trimEnd().length;
    groups.push({ start: from, end, block, text: text.slice(start, end) });
  }
  return groups;
}

/** Whether the next group has the same markers, in the same paragraph, list or table, without an uncited sentence between. */
function isRepeated(
  text: string,
  blocks: readonly MarkdownBlock[],
  group: MarkerGroup,
  next: MarkerGroup,
): boolean {
  if (group.text !== next.text) return false;
  const between = text.slice(group.end, next.start);
  if (group.block === next.block) return !/[.!?]["'”’)]*\s+\S/.test(between.replace(/^[.!?]+/, ''));
  const at = blocks.indexOf(group.block);
  return (
    blocks[at + 1] === next.block &&
    group.end >= group.block.end - 1 &&
    isListed(text, group.block) &&
    isListed(text, next.block) &&
    next.start > next.block.content
  );
}

/** Whether a block is an item or a row, or belongs to an item. */
function isListed(text: string, { start, content, kind }: MarkdownBlock): boolean {
  return kind === 'text' && (content > start || text.charAt(start) === '|');
}

/** Moves the last group from below code or a table to the end of the text above it, unless that has its markers. */
function moveUp(
  text: string,
  blocks: readonly MarkdownBlock[],
  groups: readonly MarkerGroup[],
  shown: number,
): TextEdit[] {
  const alone = groups.filter(isAlone);
  const group = alone.at(-1);
  if (group === undefined) return [];
  const at = blocks.indexOf(group.block);
  const skipped = new Set(alone.map(({ block }) => block));
  const isProse = (block: MarkdownBlock) =>
    block.kind !== 'code' && text.charAt(block.start) !== '|' && !skipped.has(block);
  const above = blocks.slice(0, at).findLast(isProse);
  if (above === undefined) return [];
  const removed = { start: blocks[at - 1]?.end ?? 0, end: group.end, text: '' };
  const moved = alone.slice(0, -1).filter(({ start }) => start >= above.end);
  const last = groups.findLast(({ block }) => block === above);
  const present = [last, ...moved].map((one) => one?.text ?? '').join('');
  if (group.text.match(/\[\d+\]/g)?.every((marker) => present.includes(marker))) return [removed];
  if (above.end < shown) return [];
  const gap = moved.length > 0 || text.charAt(above.end - 1) === ']' ? '' : ' ';
  return [{ start: above.end, end: above.end, text: `${gap}${group.text}` }, removed];
}

/** Whether a block has nothing but this group. */
function isAlone({ block, start, end }: MarkerGroup): boolean {
  return start <= block.content && end === block.end;
}

/** A text without the markers at its end, which others may follow, and without the start of a line that may be an item. */
function withoutOpenMarkers(text: string): string {
  const from = Math.max(0, text.length - LONGEST_OPEN);
  const end = text.slice(from).replace(/\n[ \t>]*(?:[-*+•|]|\d{1,9}[.)]?)?[ \t]*$/, '');
  return text.slice(0, from) + end.replace(/(?:\s*\[[^[\]]*\])*\s*(?:\[[^\]]*)?$/, '');
}

const LONGEST_OPEN = 200;
/** Characters after which a line is examined again. */
const EXAMINE_AFTER = 24;

/** Merges the markers of a text that is printed while it is generated: text after a marker waits for the next one. */
export function createMarkerMerger(write: (text: string) => void) {
  let source = '';
  let shown = 0;
  let unread = 0;

  function show(text: string, to: number): void {
    if (to <= shown) return;
    const edits = findMergeEdits(text, shown).filter(({ end }) => end <= to);
    const from = shown;
    shown = to;
    const moved = edits.map((edit) => ({ ...edit, start: edit.start - from, end: edit.end - from }));
    write(replaceRanges(source.slice(from, to), moved));
  }

  /** The end of the text that later text cannot change. */
  function certainEnd(text: string): number {
    const blocks = findMarkdownBlocks(text);
    const last = blocks.at(-1);
    const group = findGroups(text, blocks).at(-1);
    if (last === undefined || last.kind === 'code' || group === undefined) return text.length;
    const isOpen = group.block === last || (isListed(text, group.block) && isListed(text, last));
    return isOpen ? group.start : text.length;
  }

  return {
    push(delta: string): void {
      source += delta;
      unread += delta.length;
      if (shown > 0 && unread < EXAMINE_AFTER && !delta.includes('\n')) return;
      unread = 0;
      const text = withoutOpenMarkers(source);
      show(text, certainEnd(text));
    },
    end(): void {
      show(source, source.length);
    },
  };
}
