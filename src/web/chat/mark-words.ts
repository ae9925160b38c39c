import type { ElementContent, Root, Text } from 'hast';
import { SKIP, visit } from 'unist-util-visit';
import type { Range } from '../../text/markdown-blocks.ts';

/** How marked words look. */
export interface Mark {
  tagName: 'u' | 'mark';
  properties: Record<string, string>;
}

export const UNBORNE: Mark = { tagName: 'u', properties: { title: 'In no source that is cited' } };
export const BEARING: Mark = { tagName: 'mark', properties: {} };

/** Marks the words at some ranges of the Markdown that a tree was made of. What stands there otherwise is left as it is. */
export function markWords(tree: Root, source: string, ranges: readonly Range[], mark: Mark): void {
  if (ranges.length === 0) return;
  visit(tree, (node, index, parent) => {
    if (node.type !== 'text' || parent === undefined || index === undefined) return;
    // Code has its place around its marks, and its text has none.
    const { start, end } = (node.position ?? parent.position) || {};
    if (start?.offset === undefined || end?.offset === undefined) return;
    const within = source.slice(start.offset, end.offset).indexOf(node.value);
    if (within < 0) return;
    const pieces = cut(node, start.offset + within, ranges, mark);
    parent.children.splice(index, 1, ...pieces);
    return [SKIP, index + pieces.length];
  });
}

/** A text that begins at a place of the source, in pieces. */
function cut({ value }: Text, at: number, ranges: readonly Range[], mark: Mark): ElementContent[] {
  const pieces: ElementContent[] = [];
  let from = 0;
  const add = (to: number) => {
    if (to > from) pieces.push({ type: 'text', value: value.slice(from, to) });
    from = Math.max(from, to);
  };
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const first = Math.max(start - at, from);
    const last = Math.min(end - at, value.length);
    if (first >= last) continue;
    add(first);
    pieces.push({
      type: 'element',
      ...mark,
      children: [{ type: 'text', value: value.slice(first, last) }],
    });
    from = last;
  }
  add(value.length);
  return pieces;
}
