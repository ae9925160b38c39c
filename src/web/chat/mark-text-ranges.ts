import type { ElementContent, Root, Text } from 'hast';
import { SKIP, visit } from 'unist-util-visit';
import type { TextRange } from '../../text/markdown-blocks.ts';

/** The element that surrounds marked text. */
export interface MarkElement {
  tagName: 'u' | 'mark';
  properties: Record<string, string>;
}

export const UNSUPPORTED_MARK: MarkElement = {
  tagName: 'u',
  properties: { title: 'Not supported by the cited sources' },
};
export const EVIDENCE_MARK: MarkElement = { tagName: 'mark', properties: {} };

/**
 * Marks ranges of the Markdown source in the tree that was parsed from it. Text that differs from its source, because
 * of escapes or entities, stays unmarked.
 */
export function markTextRanges(
  tree: Root,
  source: string,
  ranges: readonly TextRange[],
  mark: MarkElement,
): void {
  if (ranges.length === 0) return;
  visit(tree, (node, index, parent) => {
    if (node.type !== 'text' || parent === undefined || index === undefined) return;
    // The text of inline code has no position; its element has, including the backticks.
    const { start, end } = (node.position ?? parent.position) || {};
    if (start?.offset === undefined || end?.offset === undefined) return;
    const offset = source.slice(start.offset, end.offset).indexOf(node.value);
    if (offset < 0) return;
    const pieces = splitText(node, start.offset + offset, ranges, mark);
    parent.children.splice(index, 1, ...pieces);
    return [SKIP, index + pieces.length];
  });
}

/** `textStart` is the position of the text in the source. */
function splitText(
  { value }: Text,
  textStart: number,
  ranges: readonly TextRange[],
  mark: MarkElement,
): ElementContent[] {
  const pieces: ElementContent[] = [];
  let position = 0;
  function addUnmarked(end: number): void {
    if (end > position) pieces.push({ type: 'text', value: value.slice(position, end) });
    position = Math.max(position, end);
  }
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const first = Math.max(start - textStart, position);
    const last = Math.min(end - textStart, value.length);
    if (first >= last) continue;
    addUnmarked(first);
    pieces.push({
      type: 'element',
      ...mark,
      children: [{ type: 'text', value: value.slice(first, last) }],
    });
    position = last;
  }
  addUnmarked(value.length);
  return pieces;
}
