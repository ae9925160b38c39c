import type { Nodes } from 'mdast';

const PHRASING: ReadonlySet<string> = new Set(
  (
    'text inlineCode emphasis strong delete link linkReference image imageReference break ' +
    'footnoteReference textDirective mdxJsxTextElement mdxTextExpression'
  ).split(' '),
);

export function isPhrasing(node: Nodes): boolean {
  return PHRASING.has(node.type);
}

/** Attributes of site generators after an element: `{#id}`, `{ .class }`, `{: key=value }`. */
export const ATTRIBUTES = /\{:?\s*(?:[#.][\w:.-]+|[\w-]+=(?:"[^"]*"|'[^']*'|[^\s{}"']*))(?:\s+[^{}]*)?\}/
  .source;
const FIRST_ATTRIBUTES = new RegExp(`^${ATTRIBUTES}`);

/** The text of inline nodes without markup, with newlines only at hard breaks. */
export function renderInline(nodes: readonly Nodes[]): string {
  const lines = renderSiblings(nodes).split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

/** For headings and table cells. */
export function renderSingleLine(nodes: readonly Nodes[]): string {
  return renderInline(nodes).replaceAll('\n', ' ');
}

function renderSiblings(nodes: readonly Nodes[]): string {
  let text = '';
  for (let index = 0; index < nodes.length; ) {
    const node = nodes[index];
    if (node?.type === 'html') {
      const tag = renderInlineHtml(nodes, index);
      text += tag.text;
      index = tag.next;
    } else {
      const rendered = node ? renderNode(node) : '';
      const before = nodes[index - 1]?.type ?? 'text';
      text += node?.type === 'text' && before !== 'text' ? rendered.replace(FIRST_ATTRIBUTES, '') : rendered;
      index += 1;
    }
  }
  return text;
}

function renderNode(node: Nodes): string {
  switch (node.type) {
    case 'text':
      return collapse(node.value);
    case 'inlineCode':
      return node.value.replaceAll('\n', ' ');
    case 'break':
      return '\n';
    case 'image':
    case 'imageReference':
      return collapse(node.alt ?? '');
    case 'link':
    case 'linkReference': {
      // A linked image is a badge or a thumbnail, whose description is no text of the document.
      if (node.children.every(({ type }) => type === 'image' || type === 'imageReference')) return '';
      const text = renderSiblings(node.children);
      return node.type === 'link' ? formatLink(text, node.url) : text;
    }
    case 'footnoteReference':
      return `[^${node.label ?? node.identifier}]`;
    case 'mdxTextExpression':
      // `{' '}` and `{"text"}` are text in MDX; other expressions are dropped.
      return /^\s*(['"`])([^'"`$\\]*)\1\s*$/.exec(node.value)?.[2] ?? '';
    case 'mdxJsxTextElement': {
      const name = node.name?.toLowerCase() ?? '';
      if (DROPPED_ELEMENTS.has(name)) return '';
      const text = renderSiblings(node.children);
      return BLOCK_ELEMENTS.has(name) ? `\n${text}\n` : text;
    }
    default: {
      const text = 'children' in node ? renderSiblings(node.children) : 'value' in node ? node.value : '';
      return isPhrasing(node) ? text : `\n${text}\n`;
    }
  }
}

/** Keeps the targets of links to the web, unless the text is the target. */
function formatLink(text: string, url: string): string {
  const isKept = /^https?:\/\/[^\s()]+$/i.test(url) && !/[[\]\n]/.test(text) && text.trim() !== '';
  const withoutScheme = (address: string) => address.trim().replace(/^https?:\/\/|\/$/gi, '');
  return isKept && withoutScheme(url) !== withoutScheme(text) ? `[${text}](${url})` : text;
}

function collapse(text: string): string {
  return text.replace(/[\u00ad\u200b\u2060\ufeff]/g, '').replace(/\s+/g, ' ');
}

/** The text for a raw inline HTML tag, and the index of the next sibling to render. */
interface RenderedTag {
  text: string;
  next: number;
}

/** Drops tags, drops scripts with their content, and keeps placeholders such as `Vec<T>`. */
function renderInlineHtml(siblings: readonly Nodes[], index: number): RenderedTag {
  const next = index + 1;
  const node = siblings[index];
  const value = node?.type === 'html' ? node.value : '';
  const [, slash = '', written = '', rest = ''] = /^<(\/?)([a-z][\w-]*)(.*)>$/is.exec(value) ?? [];
  const name = written.toLowerCase();
  if (BLOCK_ELEMENTS.has(name)) return { text: '\n', next };
  if (slash === '/' || name === '') return { text: '', next };

  const end = findClosingTag(siblings, next, name);
  if (DROPPED_ELEMENTS.has(name)) return { text: '', next: Math.max(end, index) + 1 };
  const target = name === 'a' ? /\bhref=["']([^"']+)/i.exec(rest)?.[1] : undefined;
  if (target !== undefined && end >= 0)
    return { text: formatLink(renderSiblings(siblings.slice(next, end)), target), next: end + 1 };
  const isPlaceholder = rest === '' && !isKnownElement(name) && end < 0;
  return { text: isPlaceholder ? value : '', next };
}

function findClosingTag(siblings: readonly Nodes[], from: number, name: string): number {
  const tag = `</${name}`;
  return siblings.findIndex(
    (node, index) => index >= from && node.type === 'html' && node.value.toLowerCase().startsWith(tag),
  );
}

/** Elements that are dropped with their content: scripts, drawings, controls. */
export const DROPPED_ELEMENTS: ReadonlySet<string> = new Set(
  'script style noscript template svg iframe object embed canvas button input select textarea option'.split(
    ' ',
  ),
);

export const BLOCK_ELEMENTS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote br center dd details div dl dt fieldset figcaption figure footer ' +
    'h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul'
  ).split(' '),
);

const INLINE_ELEMENTS: ReadonlySet<string> = new Set(
  (
    'a abbr acronym audio b bdi bdo big cite code data del dfn em font i img ins kbd label map mark nobr ' +
    'output picture q rp rt ruby s samp small source span strike strong sub sup time track tt u var video wbr'
  ).split(' '),
);

function isKnownElement(name: string): boolean {
  return DROPPED_ELEMENTS.has(name) || BLOCK_ELEMENTS.has(name) || INLINE_ELEMENTS.has(name);
}
