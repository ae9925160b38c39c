import type { Element, ElementContent, Root, RootContent } from 'hast';
import { DROPPED_ELEMENTS } from './html-elements.ts';

/** Takes out of a tree, in place, what no reader sees or wants: scripts, hidden elements, links that only help to navigate. */
export function cleanHtml(tree: Root): void {
  clean(tree, null);
}

/** `language` is that of the nearest element that names one, by the classes of Sphinx, GitHub and Prism. */
function clean(parent: Root | Element, language: string | null): void {
  const children: (RootContent | ElementContent)[] = [];
  for (const child of parent.children) {
    if (child.type !== 'element') {
      children.push(child);
      continue;
    }
    if (isDropped(child)) continue;
    const inner = languageOf(child) ?? language;
    if (child.tagName === 'pre' && inner !== null) child.properties.dataLanguage = inner;
    clean(child, inner);
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
  const classes = classesOf(element);
  if (classes.some((name) => name === 'linenos' || name === 'lineno')) return true;
  return tagName === 'a' && isNavigationLink(element, classes);
}

/** Skip links, "Edit this page", and the anchors that headings carry for being linked to. */
function isNavigationLink(link: Element, classes: string[]): boolean {
  const text = textOf(link).replace(/[\s\u200b]/g, '');
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

function languageOf(element: Element): string | null {
  for (const name of classesOf(element)) {
    const language = /^(?:language|lang|highlight(?:-source)?)-([\w+#.-]+)$/.exec(name)?.[1];
    if (language !== undefined && !/^(default|text|none|notranslate)$/.test(language)) return language;
  }
  return null;
}

/** The caption of a table, as a paragraph to put before it. */
function takeCaption(table: Element): Element[] {
  const caption = table.children.find((child) => child.type === 'element' && child.tagName === 'caption');
  if (caption?.type !== 'element') return [];
  table.children = table.children.filter((child) => child !== caption);
  return [{ ...caption, tagName: 'p' }];
}

export function classesOf(element: Element): string[] {
  const { className } = element.properties;
  return Array.isArray(className) ? className.map(String) : [];
}

export function textOf(node: Root | RootContent): string {
  if (node.type === 'text') return node.value;
  return 'children' in node ? node.children.map(textOf).join('') : '';
}
