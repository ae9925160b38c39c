import type { Element, ElementContent, Nodes, Root } from 'hast';
import { defaultSchema, sanitize } from 'hast-util-sanitize';
import { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { toHast } from 'mdast-util-to-hast';
import type { ComponentChildren, VNode } from 'preact';
import { Fragment, jsx, jsxs } from 'preact/jsx-runtime';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { SKIP, visit } from 'unist-util-visit';
import type { Range } from '../../text/markdown-blocks.ts';
import { type Mark, markWords, UNBORNE } from './mark-words.ts';
import { revealHidden } from './reveal-hidden.ts';

const parser = unified().use(remarkParse).use(remarkGfm);

/** Pictures would be requests to elsewhere, and ids could be those of the page. */
const schema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter(
    (name) => !['img', 'picture', 'source', 'input'].includes(name),
  ),
  attributes: { a: ['href'], code: ['className'], th: ['align'], td: ['align'] },
  protocols: { href: ['http', 'https', 'mailto'] },
};

interface MarkdownProps {
  text: string;
  /** What `[1]` becomes; anything that is not known stays text. */
  markers: ReadonlyMap<string, VNode>;
  /** Words of the text to mark, which nothing bears out unless said otherwise. */
  marked: readonly Range[];
  mark?: Mark;
}

/** Markdown of a model or a document as elements of the page. Nothing of it is ever taken as HTML. */
export function Markdown({ text, markers, marked, mark = UNBORNE }: MarkdownProps) {
  const source = revealHidden(text);
  const parsed = parser.parse(source);
  // A definition could make a link to anywhere of any `[1]`.
  visit(parsed, 'definition', (_node, index, parent) => {
    if (parent === undefined || index === undefined) return;
    parent.children.splice(index, 1);
    return index;
  });
  // Raw HTML comes out as the text it is.
  const tree = toHast(parsed, {
    handlers: { html: (_state, { value }) => ({ type: 'text', value }) },
  });
  const safe = sanitize(tree as Nodes, schema);
  const placeOf = (at: number) => revealHidden(text.slice(0, at)).length;
  const ranges = marked.map(({ start, end }) => ({ start: placeOf(start), end: placeOf(end) }));
  markWords(safe as Root, source, ranges, mark);
  markCitations(safe as Root, markers);
  return toJsxRuntime(safe, {
    Fragment,
    jsx,
    jsxs,
    tableCellAlignToStyle: false,
    components: {
      a: Link,
      // Below the question, which is a heading of the page.
      h1: 'h3',
      h2: 'h3',
      h3: 'h4',
      h4: 'h5',
      h5: 'h6',
      'citation-marker': ({ marker }: { marker: string }) => markers.get(marker) ?? `[${marker}]`,
    },
  });
}

/** A link says where it leads, whatever its text claims; one that leads nowhere outside is only text. */
function Link({ href = '', children }: { href?: string; children?: ComponentChildren }) {
  if (!/^(?:https?:\/\/|mailto:)/i.test(href)) return <span>{children}</span>;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** Puts an element where the text has a marker that is known. */
function markCitations(tree: Root, markers: ReadonlyMap<string, unknown>): void {
  visit(tree, (node, index, parent) => {
    if (parent === undefined || index === undefined) return;
    if (node.type === 'element') {
      if (node.tagName === 'code') return SKIP;
      if (node.tagName !== 'a') return;
      // `[1](somewhere)` is a marker too: it leads to the source that was checked, and nowhere else.
      const marker = textOf(node);
      if (markers.has(marker)) parent.children[index] = markerElement(marker);
      return SKIP;
    }
    if (node.type !== 'text') return;
    const parts = node.value.split(/\[([^[\]]{1,40})\]/);
    if (parts.length === 1) return;
    const replaced = parts.map((part, at): ElementContent => {
      if (at % 2 === 0) return { type: 'text', value: part };
      return markers.has(part) ? markerElement(part) : { type: 'text', value: `[${part}]` };
    });
    parent.children.splice(index, 1, ...replaced);
    return [SKIP, index + replaced.length];
  });
}

function textOf({ children }: Element): string {
  return children.map((child) => (child.type === 'text' ? child.value : '')).join('');
}

function markerElement(marker: string): Element {
  return { type: 'element', tagName: 'citation-marker', properties: { marker }, children: [] };
}
