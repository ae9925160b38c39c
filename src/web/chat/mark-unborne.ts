import type { ElementContent, Root, Text } from 'hast';
import { SKIP, visit } from 'unist-util-visit';
import type { Range } from '../../text/markdown-blocks.ts';

/** Underlines the words at some ranges of the Markdown that a tree was made of. What stands there otherwise is left as it is. */
export function markUnborne(tree: Root, source: string, ranges: readonly Range[]): void {
  if (ranges.length === 0) return;
  visit(tree, (node, index, parent) => {
    if (node.type !== 'text' || parent === undefined || index === undefined) return;
    // Code has its place around its marks, and its text has none.
    const { start, end } = (node.position ?? parent.position) || {};
    if (start?.offset === undefined || end?.offset === undefined) return;
    const within = source.slice(start.offset, end.offset).indexOf(node.value);
    if (within < 0) return;
    const pieces = cut(node, start.offset + within, ranges);
    parent.children.splice(index, 1, ...pieces);
    return [SKIP, index + pieces.length];
  });
}

/** A text that begins at a place of the source, in pieces. */
function cut({ value }: Text, at: number, ranges: readonly Range[]): ElementContent[] {
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
      tagName: 'u',
      properties: { title: 'In no source that is cited' },
      children: [{ type: 'text', value: value.slice(first, last) }],
    });
    from = last;
  }
  add(value.length);
  return pieces;
}
