import type { Element } from 'hast';
import { visit } from 'unist-util-visit';
import { parseHtmlTree } from '../documents/html-tree.ts';

/** An HTML page in UTF-8; `robotsTag` is its `X-Robots-Tag` header, which has the same values as the robots meta element. */
export interface PageSource {
  bytes: Uint8Array;
  url: string;
  robotsTag?: string;
}

export interface PageLinks {
  /** Unique links to the same origin, without fragments, in document order. */
  links: string[];
  /** The canonical URL if it is on the same origin. */
  canonical: string | null;
  noindex: boolean;
}

/** Throws `invalid_input` for a page that cannot be parsed. */
export type LinkExtractor = (page: PageSource, signal?: AbortSignal) => Promise<PageLinks>;

/** Extracts the links of an HTML page. Obeys `nofollow` of links and of the page, and `base`. */
export function extractLinks({ bytes, url: address, robotsTag = '' }: PageSource): PageLinks {
  const url = new URL(address);
  const elements = listElements(new TextDecoder().decode(bytes));
  if (elements === null) return { links: [], canonical: null, noindex: false };
  const base = baseUrl(elements, url);
  const directives = robotsDirectives(elements, robotsTag);
  const canonical = elements.find((element) => element.tagName === 'link' && hasRel(element, 'canonical'));
  const links = new Set<string>();
  for (const element of directives.has('nofollow') ? [] : elements) {
    if ((element.tagName !== 'a' && element.tagName !== 'area') || hasRel(element, 'nofollow')) continue;
    const target = resolveSameOrigin(attribute(element, 'href'), base, url);
    if (target !== null) links.add(target.href);
  }
  return {
    links: [...links],
    canonical: (canonical && resolveSameOrigin(attribute(canonical, 'href'), base, url)?.href) ?? null,
    noindex: directives.has('noindex'),
  };
}

/** All elements in document order; null if the page is nested too deeply. */
function listElements(html: string): Element[] | null {
  const elements: Element[] = [];
  try {
    visit(parseHtmlTree(html), 'element', (element) => void elements.push(element));
    return elements;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function baseUrl(elements: Element[], url: URL): URL {
  const base = elements.find((element) => element.tagName === 'base' && attribute(element, 'href') !== '');
  return (base && URL.parse(attribute(base, 'href'), url.href)) ?? url;
}

function robotsDirectives(elements: Element[], robotsTag: string): Set<string> {
  const metas = elements.filter(
    (element) => element.tagName === 'meta' && /^(robots|citeloop)$/i.test(attribute(element, 'name')),
  );
  const texts = [robotsTag, ...metas.map((element) => attribute(element, 'content'))];
  const words = new Set(texts.flatMap((text) => text.toLowerCase().split(/[\s,]+/)));
  return words.has('none') ? new Set(['nofollow', 'noindex']) : words;
}

function resolveSameOrigin(href: string, base: URL, page: URL): URL | null {
  if (href.trim() === '') return null;
  const target = URL.parse(href, base.href);
  if (target === null || target.origin !== page.origin || target.username !== '') return null;
  target.hash = '';
  return target;
}

function hasRel(element: Element, rel: string): boolean {
  const { rel: values } = element.properties;
  return Array.isArray(values) && values.some((value) => String(value).toLowerCase() === rel);
}

function attribute(element: Element, name: string): string {
  const value = element.properties[name];
  return typeof value === 'string' ? value : '';
}
