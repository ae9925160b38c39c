import type { Element, ElementContent, Root as HtmlRoot, Nodes, RootContent } from 'hast';
import { defaultHandlers, type State, toMdast } from 'hast-util-to-mdast';
import type { Code, List, ListItem, Root } from 'mdast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { BLOCK_ELEMENTS, DROPPED_ELEMENTS, renderSingleLine } from './render-inline.ts';
import { prependTitle } from './render-tree.ts';

export function parseHtmlFragment(source: string): Root {
  return htmlToMdast(unified().use(rehypeParse, { fragment: true }).parse(source));
}

export function parseHtmlTree(source: string): HtmlRoot {
  return unified().use(rehypeParse).parse(source);
}

/** Converts an HTML tree, which it cleans in place. */
export function htmlToMdast(tree: HtmlRoot): Root {
  cleanHtml(tree, null);
  const root: Root = { type: 'root', children: [] };
  const handlers = { input: () => undefined, menu: defaultHandlers.ul, pre, dl };
  for (const batch of splitIntoBatches(tree)) {
    const content = toMdast(batch, { handlers });
    if (content.type !== 'root') continue;
    for (const node of content.children) root.children.push(node);
  }
  return root;
}

/** A code block with its language, which `cleanHtml` has collected. */
function pre(state: State, node: Element): Code {
  const { value, lang } = defaultHandlers.pre(state, node) as Code;
  return { type: 'code', value, lang: lang ?? String(node.properties.dataLanguage ?? '') };
}

/** A definition list as items of `term: definition`. */
function dl(state: State, node: Element): List {
  const items: ListItem[] = [];
  let terms: string[] = [];
  const parts = node.children.flatMap((child) =>
    child.type === 'element' && child.tagName === 'div' ? child.children : [child],
  );
  const close = (content: ListItem['children']): void => {
    items.push({ type: 'listItem', children: prependTitle(terms.join(', '), content) });
    terms = [];
  };
  for (const part of parts) {
    if (part.type !== 'element') continue;
    const content = state.toFlow(state.all(part)) as ListItem['children'];
    if (part.tagName === 'dt') terms.push(renderSingleLine(content));
    else close(content);
  }
  if (terms.length > 0) close([]);
  return { type: 'list', ordered: false, children: items };
}

/**
 * Removes scripts, hidden elements and navigation links. `language` is that of the nearest parent that has one, by the
 * classes of Sphinx, GitHub and Prism.
 */
function cleanHtml(parent: HtmlRoot | Element, language: string | null): void {
  const children: (RootContent | ElementContent)[] = [];
  for (const child of parent.children) {
    if (child.type !== 'element') {
      children.push(child);
      continue;
    }
    if (isDropped(child)) continue;
    const inner = highlightLanguage(child) ?? language;
    if (child.tagName === 'pre' && inner !== null) child.properties.dataLanguage = inner;
    cleanHtml(child, inner);
    if (child.tagName === 'table') children.push(...takeCaption(child));
    children.push(child);
  }
  parent.children = children as typeof parent.children;
}

function isDropped(element: Element): boolean {
  const { tagName, properties } = element;
  if (tagName !== 'input' && DROPPED_ELEMENTS.has(tagName)) return true;
  if (properties.hidden !== undefined && properties.hidden !== null && properties.hidden !== false)
    return true;
  if (String(properties.ariaHidden) === 'true') return true;
  const classes = classNames(element);
  if (classes.some((name) => name === 'linenos' || name === 'lineno')) return true;
  return tagName === 'a' && isNavigationLink(element, classes);
}

/** Skip links, "Edit this page" and the anchors of headings. */
function isNavigationLink(link: Element, classes: string[]): boolean {
  const text = nodeText(link).replace(/[\s\u200b]/g, '');
  const isLocal = String(link.properties.href ?? '').startsWith('#');
  if (/^editthispage/i.test(text) || (isLocal && /^skipto/i.test(text))) return true;
  const isAnchor = classes.some((name) =>
    /^(hash-link|headerlink|header-anchor|heading-anchor|anchor)$/.test(name),
  );
  if (isAnchor && /^(link|permalink)$/i.test(text)) return true;
  return (
    (isAnchor || isLocal) &&
    /^[#¶§🔗\uf0c1]?$/u.test(text) &&
    link.children.every((child) => child.type === 'text')
  );
}

function highlightLanguage(element: Element): string | null {
  for (const name of classNames(element)) {
    const language = /^(?:language|lang|highlight(?:-source)?)-([\w+#.-]+)$/.exec(name)?.[1];
    if (language !== undefined && !/^(default|text|none|notranslate)$/.test(language)) return language;
  }
  return null;
}

/** Removes the caption of a table and returns it as a paragraph. */
function takeCaption(table: Element): Element[] {
  const caption = table.children.find((child) => child.type === 'element' && child.tagName === 'caption');
  if (caption?.type !== 'element') return [];
  table.children = table.children.filter((child) => child !== caption);
  return [{ ...caption, tagName: 'p' }];
}

function classNames(element: Element): string[] {
  const { className } = element.properties;
  return Array.isArray(className) ? className.map(String) : [];
}

export function nodeText(node: HtmlRoot | RootContent): string {
  if (node.type === 'text') return node.value;
  return 'children' in node ? node.children.map(nodeText).join('') : '';
}

/** The outermost matching elements, in document order. */
export function findOutermostElements(node: Nodes, matches: (element: Element) => boolean): Element[] {
  if (!('children' in node)) return [];
  return node.children.flatMap((child) =>
    child.type === 'element' && matches(child) ? [child] : findOutermostElements(child, matches),
  );
}

/** Nodes converted at once: the conversion takes quadratic time and overflows the stack at about 100,000. */
const BATCH_SIZE = 1_000;

/** Elements whose blocks can be converted separately. */
const GROUP_ELEMENTS: ReadonlySet<string> = new Set(['html', 'body', 'main', 'article', 'section', 'div']);

function splitIntoBatches(tree: HtmlRoot): HtmlRoot[] {
  const batches: HtmlRoot[] = [{ type: 'root', children: [] }];
  let size = 0;
  const startBatch = (): void => {
    batches.push({ type: 'root', children: [] });
    size = 0;
  };
  const add = (node: RootContent): void => {
    const nodes = countNodes(node);
    if (nodes > BATCH_SIZE && node.type === 'element' && GROUP_ELEMENTS.has(node.tagName)) {
      startBatch();
      node.children.forEach(add);
      startBatch();
      return;
    }
    if (size > BATCH_SIZE && node.type === 'element' && BLOCK_ELEMENTS.has(node.tagName)) startBatch();
    batches.at(-1)?.children.push(node);
    size += nodes;
  };
  tree.children.forEach(add);
  return batches.filter((batch) => batch.children.length > 0);
}

function countNodes(node: Nodes): number {
  return 'children' in node ? node.children.reduce((sum, child) => sum + countNodes(child), 1) : 1;
}
