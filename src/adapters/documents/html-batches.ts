import type { Element, Nodes, Root, RootContent } from 'hast';
import { BLOCK_ELEMENTS } from './html-elements.ts';

/** How many nodes are converted at once: time grows with the square of that, and past 100,000 the stack is full. */
const BATCH_SIZE = 1_000;

/** Elements that only group blocks, so that their content may be converted piece by piece. */
const GROUPS: ReadonlySet<string> = new Set(['html', 'body', 'main', 'article', 'section', 'div']);

/** Divides a long page between its blocks; a short one stays whole. */
export function htmlBatches(tree: Root): Root[] {
  const batches: Root[] = [{ type: 'root', children: [] }];
  let size = 0;
  const begin = (): void => {
    batches.push({ type: 'root', children: [] });
    size = 0;
  };
  const add = (node: RootContent): void => {
    const nodes = countNodes(node);
    if (nodes > BATCH_SIZE && isGroup(node)) {
      begin();
      node.children.forEach(add);
      begin();
      return;
    }
    if (size > BATCH_SIZE && node.type === 'element' && BLOCK_ELEMENTS.has(node.tagName)) begin();
    batches.at(-1)?.children.push(node);
    size += nodes;
  };
  tree.children.forEach(add);
  return batches.filter((batch) => batch.children.length > 0);
}

function isGroup(node: RootContent): node is Element {
  return node.type === 'element' && GROUPS.has(node.tagName);
}

function countNodes(node: Nodes): number {
  return 'children' in node ? node.children.reduce((sum, child) => sum + countNodes(child), 1) : 1;
}
