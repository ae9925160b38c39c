import { setImmediate } from 'node:timers/promises';
import type { Nodes, Parents, Root } from 'mdast';
import remarkDirective from 'remark-directive';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { CONTINUE, SKIP, visit } from 'unist-util-visit';
import type { ParsedDocument } from '../../domain/document.ts';
import { lineRange } from '../../domain/location.ts';
import {
  assertNestingLimit,
  convertMkdocsBlocks,
  LABEL_MARK,
  labelAdmonitions,
  splitFrontMatter,
  splitMarkdown,
} from './prepare-markdown.ts';
import { isPhrasing } from './render-inline.ts';
import { toParsedDocument } from './render-tree.ts';

/** GitHub Flavored Markdown with front matter, admonitions and raw HTML. */
export async function parseMarkdown(source: string): Promise<ParsedDocument> {
  const { metadata, body, linesBefore } = splitFrontMatter(source);
  return toParsedDocument(await parseMarkdownTree(body, linesBefore), metadata);
}

/** `linesBefore` is the number of lines before the source in its document; without it nodes get no locations. */
export async function parseMarkdownTree(source: string, linesBefore?: number): Promise<Root> {
  assertNestingLimit(source);
  const parser = unified().use(remarkParse).use(remarkGfm).use(remarkDirective).freeze();
  const root: Root = { type: 'root', children: [] };
  for (const part of splitMarkdown(labelAdmonitions(convertMkdocsBlocks(source)))) {
    const tree = parser.parse(part.text);
    restoreDirectiveText(tree, part.text);
    if (linesBefore !== undefined) addLineLocations(tree, linesBefore + part.linesBefore);
    await expandHtml(tree);
    for (const node of tree.children) root.children.push(node);
    await setImmediate(); // Lets Ctrl-C interrupt long documents.
  }
  return root;
}

/** Adds its lines to each block, from the positions that the parser recorded. */
export function addLineLocations(tree: Root, linesBefore: number): void {
  visit(tree, (node) => {
    if (isPhrasing(node) && node.type !== 'html') return SKIP;
    const { start, end } = node.position ?? {};
    if (start !== undefined && end !== undefined && start.line + linesBefore > 0) {
      node.data = { ...node.data, location: lineRange(start.line + linesBefore, end.line + linesBefore) };
    }
    return CONTINUE;
  });
}

/**
 * Removes the marks of `labelAdmonitions`, and turns inline and leaf directives back into their source text, because
 * `10:30`, `std::vector` and `:name` are not meant as directives.
 */
export function restoreDirectiveText(tree: Root, source: string): void {
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
      const text = { type: 'text' as const, value: removeMarks(written) };
      const isLeaf = node.type === 'leafDirective';
      parent?.children.splice(index ?? 0, 1, isLeaf ? { type: 'paragraph', children: [text] } : text);
    } else if ('value' in node && node.value.includes(LABEL_MARK)) {
      node.value = removeMarks(node.value);
    }
  });
}

function removeMarks(text: string): string {
  const pattern = new RegExp(`(:{3,})[\\w-]+\\[${LABEL_MARK}(.*)\\]`, 'g');
  return text.replace(pattern, '$1$2').replaceAll(LABEL_MARK, '');
}

/** In these, a raw HTML node is a block; elsewhere it is a single inline tag. */
const FLOW_PARENTS: ReadonlySet<string> = new Set(
  'root blockquote listItem footnoteDefinition containerDirective'.split(' '),
);

/** Replaces raw HTML blocks and inline images by their content. Loads the HTML parser only if there are any. */
async function expandHtml(tree: Root): Promise<void> {
  if (!containsHtml(tree)) return;
  const { parseHtmlFragment } = await import('./html-tree.ts');

  const expand = (parent: Parents): void => {
    const isFlow = FLOW_PARENTS.has(parent.type);
    const children = parent.children.flatMap((node: Nodes): Nodes[] => {
      if ('children' in node) expand(node);
      if (node.type !== 'html' || !(isFlow || /^<img\b/i.test(node.value))) return [node];
      const content = parseHtmlFragment(node.value).children;
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
