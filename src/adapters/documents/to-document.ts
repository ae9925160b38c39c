import type { Root } from 'mdast';
import type { ParsedDocument } from '../../domain/document.ts';
import { cleanText } from './decode-text.ts';
import { renderTree } from './render-tree.ts';

/** Renders a tree. The title is the one of the metadata, else the first top heading, else `fallbackTitle`. */
export function toDocument(
  root: Root,
  metadata: Record<string, string>,
  fallbackTitle: string | null = null,
): ParsedDocument {
  const { text, blocks } = renderTree(root);
  const top = blocks.find((block) => block.kind === 'heading' && block.depth === 1);
  const title = metadata.title ?? (top ? text.slice(top.start, top.end) : fallbackTitle);
  // Escapes of the format itself may have written what the source did not show: "\x1b" in YAML, &#27; in HTML.
  const clean = Object.entries(metadata).map(([key, value]) => [cleanText(key), cleanText(value)]);
  return { title: title && cleanText(title), metadata: Object.fromEntries(clean), text, blocks };
}
