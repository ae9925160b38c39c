import type { Nodes, Parents, Root } from 'mdast';

/** Where a raw HTML node is a block of its own; elsewhere it is a single tag within a line. */
const FLOW_PARENTS: ReadonlySet<string> = new Set([
  'root',
  'blockquote',
  'listItem',
  'footnoteDefinition',
  'containerDirective',
]);

/** Replaces raw HTML blocks, and images within lines, by what they say. The HTML parser is loaded only if there are any. */
export async function expandHtml(tree: Root): Promise<void> {
  if (!containsHtml(tree)) return;
  const { readHtmlFragment } = await import('./html-tree.ts');

  const expand = (parent: Parents): void => {
    const isFlow = FLOW_PARENTS.has(parent.type);
    const children = parent.children.flatMap((node: Nodes): Nodes[] => {
      if ('children' in node) expand(node);
      if (node.type !== 'html' || !(isFlow || /^<img\b/i.test(node.value))) return [node];
      return readHtmlFragment(node.value).children;
    });
    parent.children = children as typeof parent.children;
  };
  expand(tree);
}

function containsHtml(node: Nodes): boolean {
  return node.type === 'html' || ('children' in node && node.children.some(containsHtml));
}
