import { setImmediate } from 'node:timers/promises';
import type { Nodes, Parents, Root } from 'mdast';
import remarkDirective from 'remark-directive';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { CONTINUE, SKIP, visit } from 'unist-util-visit';
import { parse } from 'yaml';
import type { ParsedDocument } from '../../domain/document.ts';
import { lines } from '../../domain/location.ts';
import { dropCodeNotations } from './code-notations.ts';
import { splitMarkdown } from './markdown-pieces.ts';
import { openMkdocsBlocks } from './mkdocs-blocks.ts';
import { isPhrasing } from './render-inline.ts';
import { toDocument } from './render-tree.ts';

/** GitHub Flavoured Markdown with front matter, admonitions and raw HTML. */
export async function parseMarkdown(source: string): Promise<ParsedDocument> {
  const { metadata, body, linesBefore } = takeFrontMatter(source);
  return toDocument(await readMarkdown(body, linesBefore), metadata);
}

/** `linesBefore` says how many lines of the document come before the source; without it, lines are not told. */
export async function readMarkdown(source: string, linesBefore?: number): Promise<Root> {
  refuseDeepNesting(source);
  const parser = unified().use(remarkParse).use(remarkGfm).use(remarkDirective).freeze();
  const root: Root = { type: 'root', children: [] };
  for (const piece of splitMarkdown(labelAdmonitions(openMkdocsBlocks(source)))) {
    const tree = parser.parse(piece.text);
    restoreText(tree, piece.text);
    dropCodeNotations(tree);
    if (linesBefore !== undefined) locate(tree, linesBefore + piece.linesBefore);
    await expandHtml(tree);
    for (const node of tree.children) root.children.push(node);
    await setImmediate(); // A long document must not keep Ctrl-C waiting.
  }
  return root;
}

/** Opens with a key, so that text between two rules at the top of a document is not taken for fields. */
const FRONT_MATTER =
  /^---[ \t]*\n((?:[ \t]*(?:#.*)?\n)*["']?\w[\w ./-]*["']?[ \t]*:(?:[ \t].*)?\n(?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/** Takes YAML front matter off a document. */
export function takeFrontMatter(source: string): {
  metadata: Record<string, string>;
  body: string;
  linesBefore: number;
} {
  const [whole = '', yaml = ''] = FRONT_MATTER.exec(source) ?? [];
  const linesBefore = whole.split('\n').length - 1;
  return { metadata: readFields(yaml), body: source.slice(whole.length), linesBefore };
}

/** Notes on every block the lines that it takes up, from the positions that the parser has left. */
export function locate(tree: Root, linesBefore: number): void {
  visit(tree, (node) => {
    if (isPhrasing(node) && node.type !== 'html') return SKIP;
    const { start, end } = node.position ?? {};
    if (start !== undefined && end !== undefined && start.line + linesBefore > 0) {
      node.data = { ...node.data, location: lines(start.line + linesBefore, end.line + linesBefore) };
    }
    return CONTINUE;
  });
}

/** The scalar fields of YAML front matter as they are written; lists of scalars are joined. Empty if it is broken. */
function readFields(yaml: string): Record<string, string> {
  const fields = Object.entries(parseFields(yaml)).flatMap(([key, value]): [string, string][] => {
    const text = Array.isArray(value) ? value.map(scalarText).filter(Boolean).join(', ') : scalarText(value);
    return text === '' ? [] : [[key, text]];
  });
  return Object.fromEntries(fields);
}

/** By the failsafe schema every scalar stays a string, so version 1.10 does not turn into 1.1. */
function parseFields(yaml: string): object {
  try {
    const parsed: unknown = parse(yaml, { schema: 'failsafe', logLevel: 'error' });
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function scalarText(value: unknown): string {
  return typeof value === 'string' && value !== 'null' && value !== '~' ? value.trim() : '';
}

/** Marks a label that `labelAdmonitions` made, so that it can be told from a written one and undone. */
const MARK = '\ue0ff';

/**
 * Docusaurus writes `:::note Title` and VitePress `::: tip Title`; the parser knows only `:::note[Title]`.
 * The label keeps the rest of the line as it was, since the line may turn out to be code.
 */
export function labelAdmonitions(source: string): string {
  return source.replace(
    /^([ \t>]*:{3,})([ \t]*([a-z][\w-]*)(?:[ \t]+[^\s{[][^\n]*)?)[ \t]*$/gim,
    (line, colons: string, rest: string, name: string) =>
      rest === name ? line : `${colons}${name}[${MARK}${rest}]`,
  );
}

/**
 * Takes the marks out again, and turns inline and leaf directives back into the text they were written as:
 * `10:30`, `std::vector` and `:name` are no markup to the people who write them.
 */
export function restoreText(tree: Root, source: string): void {
  visit(tree, (node, index, parent) => {
    if (node.type === 'containerDirective') {
      const label = node.children[0];
      const opening =
        label?.type === 'paragraph' && label.data?.directiveLabel ? label.children[0] : undefined;
      if (opening?.type === 'text' && opening.value.startsWith(MARK)) {
        opening.value = opening.value.slice(MARK.length).trimStart().slice(node.name.length).trimStart();
      }
    } else if (node.type === 'textDirective' || node.type === 'leafDirective') {
      const written = source.slice(node.position?.start.offset, node.position?.end.offset);
      const text = { type: 'text' as const, value: unmark(written) };
      const isLeaf = node.type === 'leafDirective';
      parent?.children.splice(index ?? 0, 1, isLeaf ? { type: 'paragraph', children: [text] } : text);
    } else if ('value' in node && node.value.includes(MARK)) {
      node.value = unmark(node.value);
    }
  });
}

function unmark(text: string): string {
  const pattern = new RegExp(`(:{3,})[\\w-]+\\[${MARK}(.*)\\]`, 'g');
  return text.replace(pattern, '$1$2').replaceAll(MARK, '');
}

/** Where a raw HTML node is a block of its own; elsewhere it is a single tag within a line. */
const FLOW_PARENTS: ReadonlySet<string> = new Set([
  'root',
  'blockquote',
  'listItem',
  'footnoteDefinition',
  'containerDirective',
]);

/** Replaces raw HTML blocks, and images within lines, by what they say. The HTML parser is loaded only if there are any. */
async function expandHtml(tree: Root): Promise<void> {
  if (!containsHtml(tree)) return;
  const { readHtmlFragment } = await import('./html-tree.ts');

  const expand = (parent: Parents): void => {
    const isFlow = FLOW_PARENTS.has(parent.type);
    const children = parent.children.flatMap((node: Nodes): Nodes[] => {
      if ('children' in node) expand(node);
      if (node.type !== 'html' || !(isFlow || /^<img\b/i.test(node.value))) return [node];
      const content = readHtmlFragment(node.value).children;
      const location = node.data?.location;
      if (location !== undefined) for (const inner of content) inner.data = { ...inner.data, location };
      return content;
    });
    parent.children = children as typeof parent.children;
  };
  expand(tree);
}

function containsHtml(node: Nodes): boolean {
  return node.type === 'html' || ('children' in node && node.children.some(containsHtml));
}

/** More constructs inside each other than any document means; the parser would take minutes, or the whole stack. */
const DEEPEST = 100;

/** Throws a RangeError for lists and quotes opened on one line, or admonitions opened and not closed, without end. */
export function refuseDeepNesting(source: string): void {
  const opened = new RegExp(
    `^[ \\t]*(?:(?:>|(?:[-+*]|\\d{1,9}[.)])[ \\t])[ \\t]*){${DEEPEST},}[^\\s>*+-]`,
    'm',
  );
  if (opened.test(source)) throw new RangeError(`A line opens more than ${DEEPEST} lists or quotes.`);

  let depth = 0;
  for (const [, name] of source.matchAll(/^[ \t>]*:{3,}[ \t]*([a-z].*)?$/gim)) {
    depth = name === undefined ? Math.max(0, depth - 1) : depth + 1;
    if (depth > DEEPEST) throw new RangeError(`More than ${DEEPEST} admonitions are open.`);
  }
}
