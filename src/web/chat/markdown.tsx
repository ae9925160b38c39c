import type { Element, ElementContent, Nodes, Root } from 'hast';
import { defaultSchema, sanitize } from 'hast-util-sanitize';
import { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { toHast } from 'mdast-util-to-hast';
import type { ComponentChildren, VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Fragment, jsx, jsxs } from 'preact/jsx-runtime';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { SKIP, visit } from 'unist-util-visit';
import type { TextRange } from '../../text/markdown-blocks.ts';
import { copyToClipboard } from './copy-markdown.ts';
import { revealHiddenCharacters } from './hidden-characters.ts';
import { highlightCode } from './highlight-code.ts';
import { type MarkElement, markTextRanges, UNSUPPORTED_MARK } from './mark-text-ranges.ts';

const parser = unified().use(remarkParse).use(remarkGfm);

/** Without images, which would send requests to other hosts, and without ids, which could clash with the page. */
const sanitizeSchema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter(
    (name) => !['img', 'picture', 'source', 'input'].includes(name),
  ),
  attributes: { a: ['href'], code: ['className'], th: ['align'], td: ['align'] },
  protocols: { href: ['http', 'https', 'mailto'] },
};

interface MarkdownProps {
  text: string;
  /** Creates the element that replaces the nth marker of a source, such as `[1]`, counted from 0. */
  markers: ReadonlyMap<string, (nth: number) => VNode>;
  /** Ranges of the text to mark. */
  marked: readonly TextRange[];
  mark?: MarkElement;
}

/** Renders untrusted Markdown. HTML in it is shown as text. */
export function MarkdownView({ text, markers, marked, mark = UNSUPPORTED_MARK }: MarkdownProps) {
  const source = revealHiddenCharacters(text);
  const parsed = parser.parse(source);
  // A link definition could turn a marker such as `[1]` into a link.
  visit(parsed, 'definition', (_node, index, parent) => {
    if (parent === undefined || index === undefined) return;
    parent.children.splice(index, 1);
    return index;
  });
  const tree = toHast(parsed, {
    handlers: { html: (_state, { value }) => ({ type: 'text', value }) },
  });
  const safe = sanitize(tree as Nodes, sanitizeSchema);
  const shift = (offset: number) => revealHiddenCharacters(text.slice(0, offset)).length;
  const ranges = marked.map(({ start, end }) => ({ start: shift(start), end: shift(end) }));
  markTextRanges(safe as Root, source, ranges, mark);
  replaceMarkers(safe as Root, markers);
  highlightCode(safe as Root);
  return toJsxRuntime(safe, {
    Fragment,
    jsx,
    jsxs,
    tableCellAlignToStyle: false,
    components: {
      a: ExternalLink,
      // The question is an h2.
      h1: 'h3',
      h2: 'h3',
      pre: CodeBlock,
      'citation-marker': ({ marker, nth }: { marker: string; nth: number }) =>
        markers.get(marker)?.(nth) ?? `[${marker}]`,
      table: (props: object) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: The keyboard must reach what scrolls.
        <div class="table" tabIndex={0}>
          <table {...props} />
        </div>
      ),
    },
  });
}

/** Code with a button to copy it. */
function CodeBlock({ children }: { children?: ComponentChildren }) {
  const [label, setLabel] = useState('Copy');
  const code = useRef<HTMLPreElement>(null);
  const copy = async () =>
    setLabel((await copyToClipboard(code.current?.textContent ?? '')) ? 'Copied' : 'Copying was blocked');
  return (
    <div class="code-block">
      <pre ref={code}>{children}</pre>
      <button type="button" class="copy" aria-label={`${label} code`} onClick={copy}>
        {label}
      </button>
    </div>
  );
}

/** Shows its target as a tooltip, because the text may claim another one. Relative links become text. */
function ExternalLink({ href = '', children }: { href?: string; children?: ComponentChildren }) {
  if (!/^(?:https?:\/\/|mailto:)/i.test(href)) return <span>{children}</span>;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** Replaces known markers by elements. */
function replaceMarkers(tree: Root, markers: ReadonlyMap<string, unknown>): void {
  const counts = new Map<string, number>();
  function markerElement(marker: string): Element {
    const nth = counts.get(marker) ?? 0;
    counts.set(marker, nth + 1);
    return { type: 'element', tagName: 'citation-marker', properties: { marker, nth }, children: [] };
  }
  visit(tree, (node, index, parent) => {
    if (parent === undefined || index === undefined) return;
    if (node.type === 'element') {
      if (node.tagName === 'code') return SKIP;
      if (node.tagName !== 'a') return;
      // `[1](url)` is a marker too: it opens the checked source instead of the URL.
      const marker = textOf(node);
      if (markers.has(marker)) parent.children[index] = markerElement(marker);
      return SKIP;
    }
    if (node.type !== 'text') return;
    const pieces = node.value.split(/\[([^[\]]{1,40})\]/);
    if (pieces.length === 1) return;
    const replaced = pieces.map((piece, position): ElementContent => {
      if (position % 2 === 0) return { type: 'text', value: piece };
      return markers.has(piece) ? markerElement(piece) : { type: 'text', value: `[${piece}]` };
    });
    parent.children.splice(index, 1, ...replaced);
    return [SKIP, index + replaced.length];
  });
}

function textOf({ children }: Element): string {
  return children.map((child) => (child.type === 'text' ? child.value : '')).join('');
}
