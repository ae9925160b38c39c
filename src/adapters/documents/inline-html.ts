import type { Nodes } from 'mdast';
import { BLOCK_ELEMENTS, DROPPED_ELEMENTS, isKnownElement } from './html-elements.ts';

/** What is left of a raw HTML tag inside a paragraph, and the sibling to go on with. */
interface RenderedTag {
  text: string;
  next: number;
}

/** Renders the HTML node at `index`: markup goes, a script goes with its content, `Vec<T>` stays as it is written. */
export function renderInlineHtml(siblings: readonly Nodes[], index: number): RenderedTag {
  const next = index + 1;
  const node = siblings[index];
  const value = node?.type === 'html' ? node.value : '';
  const [, slash = '', written = '', rest = ''] = /^<(\/?)([a-z][\w-]*)(.*)>$/is.exec(value) ?? [];
  const name = written.toLowerCase();
  if (BLOCK_ELEMENTS.has(name)) return { text: '\n', next };
  if (slash === '/' || name === '') return { text: '', next };

  if (DROPPED_ELEMENTS.has(name)) return { text: '', next: (closingTag(siblings, next, name) ?? index) + 1 };
  const isPlaceholder =
    rest === '' && !isKnownElement(name) && closingTag(siblings, next, name) === undefined;
  return { text: isPlaceholder ? value : '', next };
}

function closingTag(siblings: readonly Nodes[], from: number, name: string): number | undefined {
  for (let index = from; index < siblings.length; index += 1) {
    const node = siblings[index];
    if (node?.type === 'html' && node.value.toLowerCase().startsWith(`</${name}`)) return index;
  }
  return undefined;
}
