import type { Element, Root } from 'hast';
import type { ParsedDocument } from '../../domain/document.ts';
import { decodeText, decodeWithEncoding, detectBomEncoding } from './decode-text.ts';
import { findOutermostElements, htmlToMdast, nodeText, parseHtmlTree } from './html-tree.ts';
import { toParsedDocument } from './render-tree.ts';

/** The main content of a page with the metadata of its head. */
export function parseHtml(bytes: Uint8Array, name: string): ParsedDocument {
  const page = parseHtmlTree(decodeHtml(bytes, name));
  const head = readHead(page);
  return toParsedDocument(htmlToMdast(mainContent(page)), head.metadata, head.title);
}

function readHead(page: Root) {
  const html = find(page, 'html');
  const head = html && find(html, 'head');
  const metadata: Record<string, string> = {};
  const addField = (key: string, value: unknown): void => {
    const text = typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '';
    if (text !== '' && metadata[key] === undefined) metadata[key] = text;
  };
  addField('lang', html?.properties.lang);
  for (const element of head?.children ?? []) {
    if (element.type !== 'element') continue;
    const { name, content, rel, href } = element.properties;
    if (element.tagName === 'meta' && String(name).toLowerCase() === 'description')
      addField('description', content);
    if (element.tagName === 'link' && Array.isArray(rel) && rel.includes('canonical'))
      addField('canonical', href);
  }
  const title = head && find(head, 'title');
  return { title: (title ? nodeText(title) : '').replace(/\s+/g, ' ').trim() || null, metadata };
}

function find(parent: Root | Element, tagName: string): Element | undefined {
  return parent.children.find((child) => child.type === 'element' && child.tagName === tagName) as
    | Element
    | undefined;
}

/** The `<main>` or `<article>` of a page without navigation; the whole page if there is none. */
function mainContent(page: Root): Root {
  const [main] = findOutermostElements(
    page,
    (element) => element.tagName === 'main' || element.properties.role === 'main',
  );
  const articles = findOutermostElements(main ?? page, (element) => element.tagName === 'article');
  const isOneArticle = articles.length > 0 && (main === undefined || isMostOf(articles, main));
  const chosen = isOneArticle ? articles : main === undefined ? [] : [main];
  if (chosen.every((element) => nodeText(element).trim() === '')) return page;

  const content: Root = { type: 'root', children: chosen };
  dropNavigation(content, isOneArticle);
  return content;
}

function isMostOf(parts: Element[], whole: Element): boolean {
  const length = (element: Element): number => nodeText(element).trim().length;
  return parts.reduce((sum, part) => sum + length(part), 0) * 2 >= length(whole);
}

/** Removes navigation. Inside an article, headers with headings and asides are content. */
function dropNavigation(parent: Root | Element, inArticle: boolean): void {
  parent.children = parent.children.filter((child) => {
    if (child.type !== 'element') return true;
    const { tagName, properties } = child;
    if (tagName === 'nav' || tagName === 'footer' || properties.role === 'navigation') return false;
    if (tagName === 'aside' && !inArticle) return false;
    if (
      tagName === 'header' &&
      findOutermostElements(child, (inner) => /^h[1-6]$/.test(inner.tagName)).length === 0
    )
      return false;
    dropNavigation(child, inArticle || tagName === 'article');
    return true;
  }) as typeof parent.children;
}

/** Decodes a page by its byte order mark, its declared charset, or as UTF-8. */
function decodeHtml(bytes: Uint8Array, name: string): string {
  const declared = detectBomEncoding(bytes) === null ? declaredEncoding(bytes) : null;
  return declared === null ? decodeText(bytes, name) : decodeWithEncoding(declared, bytes, name);
}

/** The legacy charset in a `<meta>` element of the first kilobyte, by its standard name. */
function declaredEncoding(bytes: Uint8Array): string | null {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 1024));
  const label = /<meta\b[^>]*\bcharset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1];
  if (label === undefined) return null;
  try {
    const { encoding } = new TextDecoder(label);
    // The declaration was readable as ASCII, so the page cannot be UTF-16.
    return encoding.startsWith('utf-') ? null : encoding;
  } catch {
    return null;
  }
}
