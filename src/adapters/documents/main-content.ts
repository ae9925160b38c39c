import type { Element, Nodes, Root } from 'hast';
import { textOf } from './clean-html.ts';

/** The part of a page that is about its subject: `<main>` or `<article>` without what frames it, else all of it. */
export function mainContent(page: Root): Root {
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
