import type { Element, Root } from 'hast';
import type { ParsedDocument } from '../../domain/document.ts';
import { textOf } from './clean-html.ts';
import { decodeHtml } from './html-charset.ts';
import { htmlToMdast, parseHtmlTree } from './html-tree.ts';
import { mainContent } from './main-content.ts';
import { toDocument } from './to-document.ts';

/** A page: the text of its main part, and what its head says about it. */
export function parseHtml(bytes: Uint8Array, name: string): ParsedDocument {
  const page = parseHtmlTree(decodeHtml(bytes, name));
  const head = readHead(page);
  return toDocument(htmlToMdast(mainContent(page)), head.metadata, head.title);
}

interface Head {
  title: string | null;
  metadata: Record<string, string>;
}

function readHead(page: Root): Head {
  const html = find(page, 'html');
  const head = html && find(html, 'head');
  const metadata: Record<string, string> = {};
  const note = (key: string, value: unknown): void => {
    const text = typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '';
    if (text !== '' && metadata[key] === undefined) metadata[key] = text;
  };
  note('lang', html?.properties.lang);
  for (const element of head?.children ?? []) {
    if (element.type !== 'element') continue;
    const { name, content, rel, href } = element.properties;
    if (element.tagName === 'meta' && String(name).toLowerCase() === 'description')
      note('description', content);
    if (element.tagName === 'link' && Array.isArray(rel) && rel.includes('canonical'))
      note('canonical', href);
  }
  const title = head && find(head, 'title');
  return { title: (title ? textOf(title) : '').replace(/\s+/g, ' ').trim() || null, metadata };
}

function find(parent: Root | Element, tagName: string): Element | undefined {
  for (const child of parent.children) {
    if (child.type === 'element' && child.tagName === tagName) return child;
  }
  return undefined;
}
