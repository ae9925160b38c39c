import { setImmediate } from 'node:timers/promises';
import type { Code, Nodes, Parents, Root } from 'mdast';
import remarkDirective from 'remark-directive';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { CONTINUE, SKIP, visit } from 'unist-util-visit';
import type { ParsedDocument } from '../../domain/document.ts';
import { lines } from '../../domain/location.ts';
import {
  LABEL_MARK,
  labelAdmonitions,
  openMkdocsBlocks,
  refuseDeepNesting,
  splitMarkdown,
  takeFrontMatter,
} from './prepare-markdown.ts';
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
      if (opening?.type === 'text' && opening.value.startsWith(LABEL_MARK)) {
        opening.value = opening.value
          .slice(LABEL_MARK.length)
          .trimStart()
          .slice(node.name.length)
          .trimStart();
      }
    } else if (node.type === 'textDirective' || node.type === 'leafDirective') {
      const written = source.slice(node.position?.start.offset, node.position?.end.offset);
      const text = { type: 'text' as const, value: unmark(written) };
      const isLeaf = node.type === 'leafDirective';
      parent?.children.splice(index ?? 0, 1, isLeaf ? { type: 'paragraph', children: [text] } : text);
    } else if ('value' in node && node.value.includes(LABEL_MARK)) {
      node.value = unmark(node.value);
    }
  });
}

function unmark(text: string): string {
  const pattern = new RegExp(`(:{3,})[\\w-]+\\[${LABEL_MARK}(.*)\\]`, 'g');
  return text.replace(pattern, '$1$2').replaceAll(LABEL_MARK, '');
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

/** A comment of nothing but notes to the highlighter: `// [!code ++]`, `<!-- [!code focus] -->`. */
const SHIKI =
  /[ \t]*(?:\/\/|\/\*|\{\/\*|<!--|--|[#;%])[ \t]*(?<notes>(?:\[!code [^\]\n]+\][ \t]*)+)(?:\*\/\}?|-->)?[ \t]*$/;
/** Where Twoslash begins or ends what it hides. */
const CUT = /^[ \t]*\/\/[ \t]*---cut(?:-(?:before|after|start|end))?---[ \t]*$/;
/** What else is for Twoslash alone: a question to the compiler below a line, and its options. */
const TWOSLASH = /^[ \t]*\/\/[ \t]*(?:\^[?|]|@(?!filename\b)[a-zA-Z]+(?::.*)?)[ \t]*$/;

/** Takes out of code what is written in comments for the programs that typeset it: no reader of the page sees it. */
export function dropCodeNotations(tree: Root): void {
  visit(tree, 'code', (node) => {
    if (/---cut|\[!code |\^[?|]|@/.test(node.value)) node.value = withoutNotations(node);
  });
}

function withoutNotations({ value, meta }: Code): string {
  const isTwoslash = /\btwoslash\b/.test(meta ?? '');
  // A line that is to be taken out says what there was before, where others say what comes for it.
  const isDiff = /\[!code \+\+/.test(value);
  return value
    .split('\n')
    .filter((line) => !CUT.test(line) && !(isTwoslash && TWOSLASH.test(line)))
    .filter((line) => !(isDiff && /\[!code --/.test(SHIKI.exec(line)?.groups?.notes ?? '')))
    .flatMap((line) => {
      const code = line.replace(SHIKI, '');
      return code === '' && line !== '' ? [] : [code];
    })
    .join('\n');
}
