import type { Element, Nodes, Root } from 'hast';
import type { ParsedDocument } from '../../domain/document.ts';
import { decodeAs, decodeText, encodingOfMark } from './decode-text.ts';
import { htmlToMdast, parseHtmlTree, textOf } from './html-tree.ts';
import { toDocument } from './render-tree.ts';

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

/** The part of a page that is about its subject: `<main>` or `<article>` without what frames it, else all of it. */
function mainContent(page: Root): Root {
  const [main] = elementsWhere(
    page,
    (element) => element.tagName === 'main' || element.properties.role === 'main',
  );
  const articles = elementsWhere(main ?? page, (element) => element.tagName === 'article');
  const isOneArticle = articles.length > 0 && (main === undefined || isMostOf(articles, main));
  const chosen = isOneArticle ? articles : main === undefined ? [] : [main];
  if (chosen.every((element) => textOf(element).trim() === '')) return page;

  const content: Root = { type: 'root', children: chosen };
  dropFrame(content, isOneArticle);
  return content;
}

/** The outermost elements that pass, in order. */
function elementsWhere(node: Nodes, passes: (element: Element) => boolean): Element[] {
  if (!('children' in node)) return [];
  return node.children.flatMap((child) =>
    child.type === 'element' && passes(child) ? [child] : elementsWhere(child, passes),
  );
}

function isMostOf(parts: Element[], whole: Element): boolean {
  const length = (element: Element): number => textOf(element).trim().length;
  return parts.reduce((sum, part) => sum + length(part), 0) * 2 >= length(whole);
}

/** Inside an article a header holds its title and an aside belongs to the text; around it they are the site's. */
function dropFrame(parent: Root | Element, inArticle: boolean): void {
  parent.children = parent.children.filter((child) => {
    if (child.type !== 'element') return true;
    const { tagName, properties } = child;
    if (tagName === 'nav' || tagName === 'footer' || properties.role === 'navigation') return false;
    if (tagName === 'aside' && !inArticle) return false;
    if (tagName === 'header' && elementsWhere(child, (inner) => /^h[1-6]$/.test(inner.tagName)).length === 0)
      return false;
    dropFrame(child, inArticle || tagName === 'article');
    return true;
  }) as typeof parent.children;
}

/** Decodes a page by its byte order mark, else by the charset it declares, else as UTF-8. */
function decodeHtml(bytes: Uint8Array, name: string): string {
  const declared = encodingOfMark(bytes) === null ? declaredEncoding(bytes) : null;
  return declared === null ? decodeText(bytes, name) : decodeAs(declared, bytes, name);
}

/** The legacy charset of `<meta charset>` or `<meta http-equiv>` in the first kilobyte, by its standard name. */
function declaredEncoding(bytes: Uint8Array): string | null {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 1024));
  const label = /<meta\b[^>]*\bcharset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1];
  if (label === undefined) return null;
  try {
    const { encoding } = new TextDecoder(label);
    // The declaration could be read as ASCII, so a page that claims UTF-16 is not.
    return encoding.startsWith('utf-') ? null : encoding;
  } catch {
    return null;
  }
}
