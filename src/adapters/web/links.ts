import type { Element, Root } from 'hast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';

/** What a page says about itself and where it leads. */
interface PageLinks {
  /** Pages of the same origin, without fragments, each once, in the order of the page. */
  links: URL[];
  /** The address that the page gives as its own, when that is on the same origin. */
  canonical: URL | null;
  /** The page asks not to be indexed. */
  noindex: boolean;
}

const NOTHING: PageLinks = { links: [], canonical: null, noindex: false };

/**
 * Reads the links of an HTML page. `nofollow`, on a link or for the page, is respected, and so is `base`.
 * `robotsTag` is the `X-Robots-Tag` header, which says the same as a meta element.
 */
export function linksOf(html: string, url: URL, robotsTag = ''): PageLinks {
  const elements = elementsOf(html);
  if (elements === null) return NOTHING;
  const base = baseOf(elements, url);
  const directives = directivesOf(elements, robotsTag);
  const canonical = elements.find((element) => element.tagName === 'link' && hasRel(element, 'canonical'));
  const links = new Map<string, URL>();
  for (const element of directives.has('nofollow') ? [] : elements) {
    if ((element.tagName !== 'a' && element.tagName !== 'area') || hasRel(element, 'nofollow')) continue;
    const target = resolveSameOrigin(attribute(element, 'href'), base, url);
    if (target !== null) links.set(target.href, target);
  }
  return {
    links: [...links.values()],
    canonical: canonical ? resolveSameOrigin(attribute(canonical, 'href'), base, url) : null,
    noindex: directives.has('noindex'),
  };
}

/** All elements in the order of the page; null for one nested so deeply that it cannot be walked. */
function elementsOf(html: string): Element[] | null {
  const elements: Element[] = [];
  try {
    const tree: Root = unified().use(rehypeParse).parse(html);
    visit(tree, 'element', (element) => {
      elements.push(element);
    });
    return elements;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function baseOf(elements: Element[], url: URL): URL {
  const base = elements.find((element) => element.tagName === 'base' && attribute(element, 'href') !== '');
  return (base && URL.parse(attribute(base, 'href'), url.href)) ?? url;
}

function directivesOf(elements: Element[], robotsTag: string): Set<string> {
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
