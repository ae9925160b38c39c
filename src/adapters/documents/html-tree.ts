import type { Element, Root as HtmlRoot } from 'hast';
import { defaultHandlers, type State, toMdast } from 'hast-util-to-mdast';
import type { Code, List, ListItem, Root } from 'mdast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { withTitle } from './admonition.ts';
import { cleanHtml } from './clean-html.ts';
import { htmlBatches } from './html-batches.ts';
import { renderLine } from './render-inline.ts';

/** What a piece of HTML inside another format says. */
export function readHtmlFragment(source: string): Root {
  return htmlToMdast(unified().use(rehypeParse, { fragment: true }).parse(source));
}

export function parseHtmlTree(source: string): HtmlRoot {
  return unified().use(rehypeParse).parse(source);
}

/** Cleans a tree of HTML, in place, and gives its content. */
export function htmlToMdast(tree: HtmlRoot): Root {
  cleanHtml(tree);
  const root: Root = { type: 'root', children: [] };
  const handlers = { input: () => undefined, menu: defaultHandlers.ul, pre, dl };
  for (const batch of htmlBatches(tree)) {
    const content = toMdast(batch, { handlers });
    if (content.type !== 'root') continue;
    for (const node of content.children) root.children.push(node);
  }
  return root;
}

/** A code block with its language, which highlighters note down in different places. */
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
    items.push({ type: 'listItem', children: withTitle(terms.join(', '), content) });
    terms = [];
  };
  for (const part of parts) {
    if (part.type !== 'element') continue;
    const content = state.toFlow(state.all(part)) as ListItem['children'];
    if (part.tagName === 'dt') terms.push(renderLine(content));
    else close(content);
  }
  if (terms.length > 0) close([]);
  return { type: 'list', ordered: false, children: items };
}
