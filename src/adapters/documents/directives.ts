import type { Root } from 'mdast';
import { visit } from 'unist-util-visit';

/** Marks a label that `labelAdmonitions` made, so that it can be told from a written one and undone. */
const MARK = '\ue0ff';

/**
 * Docusaurus writes `:::note Title` and VitePress `::: tip Title`; the parser knows only `:::note[Title]`.
 * The label keeps the rest of the line as it was, since the line may turn out to be code.
 */
export function labelAdmonitions(source: string): string {
  return source.replace(
    /^([ \t>]*:{3,})([ \t]*([a-z][\w-]*)(?:[ \t]+[^\s{[][^\n]*)?)[ \t]*$/gim,
    (line, colons: string, rest: string, name: string) =>
      rest === name ? line : `${colons}${name}[${MARK}${rest}]`,
  );
}

/**
 * Takes the marks out again, and turns inline and leaf directives back into the text they were written as:
 * `10:30`, `std::vector` and `:name` are no markup to the people who write them.
 */
export function restoreText(tree: Root, source: string): void {
  visit(tree, (node, index, parent) => {
    if (node.type === 'containerDirective') {
      const label = node.children[0];
      const opening =
        label?.type === 'paragraph' && label.data?.directiveLabel ? label.children[0] : undefined;
      if (opening?.type === 'text' && opening.value.startsWith(MARK)) {
        opening.value = opening.value.slice(MARK.length).trimStart().slice(node.name.length).trimStart();
      }
    } else if (node.type === 'textDirective' || node.type === 'leafDirective') {
      const written = source.slice(node.position?.start.offset, node.position?.end.offset);
      const text = { type: 'text' as const, value: unmark(written) };
      const isLeaf = node.type === 'leafDirective';
      parent?.children.splice(index ?? 0, 1, isLeaf ? { type: 'paragraph', children: [text] } : text);
    } else if ('value' in node && node.value.includes(MARK)) {
      node.value = unmark(node.value);
    }
  });
}

function unmark(text: string): string {
  const pattern = new RegExp(`(:{3,})[\\w-]+\\[${MARK}(.*)\\]`, 'g');
  return text.replace(pattern, '$1$2').replaceAll(MARK, '');
}
