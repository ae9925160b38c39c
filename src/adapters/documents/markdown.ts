import type { Nodes, Parents, Root } from 'mdast';
import remarkDirective from 'remark-directive';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { CONTINUE, SKIP, visit } from 'unist-util-visit';
import type { ParsedDocument } from '../../domain/document.ts';
import { lineRange } from '../../domain/location.ts';
import { createIncluder, type IncludedFiles, markIncludes } from './includes.ts';
import { expandMyst, prepareMyst } from './myst.ts';
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

/** GitHub Flavored Markdown with front matter, admonitions, raw HTML and the markup of MyST and MkDocs. */
export async function parseMarkdown(source: string, included?: IncludedFiles): Promise<ParsedDocument> {
  const { metadata, body, linesBefore } = splitFrontMatter(source);
  return toParsedDocument(await parseMarkdownTree(body, linesBefore, included), metadata);
}

/** `linesBefore` is the number of lines before the source in its document; without it nodes get no locations. */
export async function parseMarkdownTree(
  source: string,
  linesBefore?: number,
  included: IncludedFiles = {},
): Promise<Root> {
  const includer = createIncluder(included, (text) => parseBlocks(text, undefined, 0));
  const root = parseBlocks(markIncludes(source), linesBefore, 0);
  visit(root, 'code', includer.expandCode);
  await expandHtml(root, includer);
  resolveReferences(root);
  return root;
}

/** Parses all but raw HTML and includes. */
function parseBlocks(source: string, linesBefore: number | undefined, depth: number): Root {
  assertNestingLimit(source);
  const parser = unified().use(remarkParse).use(remarkGfm).use(remarkDirective).freeze();
  const root: Root = { type: 'root', children: [] };
  for (const part of splitMarkdown(labelAdmonitions(prepareMyst(convertMkdocsBlocks(source))))) {
    const tree = parser.parse(part.text);
    restoreDirectiveText(tree, part.text);
    if (linesBefore !== undefined) addLineLocations(tree, linesBefore + part.linesBefore);
    expandMyst(tree, (text, inner) => parseBlocks(text, undefined, inner), depth);
    for (const node of tree.children) root.children.push(node);
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

/** Replaces includes, raw HTML blocks and inline images by their content. Loads the HTML parser only if there are any. */
async function expandHtml(tree: Root, includer: ReturnType<typeof createIncluder>): Promise<void> {
  if (!containsHtml(tree)) return;
  const { parseHtmlFragment } = await import('./html-tree.ts');

  const parseFragment = (html: string): Nodes[] => {
    if (!includer.isInclude(html))
      return parseHtmlFragment(html.replace(COMPONENT_LABEL, '$&<p>$2</p>')).children;
    const included: Root = { type: 'root', children: includer.toNodes(html) };
    expand(included);
    return included.children;
  };
  const expand = (parent: Parents): void => {
    const isFlow = FLOW_PARENTS.has(parent.type);
    const children = parent.children.flatMap((node: Nodes): Nodes[] => {
      if ('children' in node) expand(node);
      if (node.type !== 'html' || !(isFlow || /^<img\b/i.test(node.value))) return [node];
      const content = parseFragment(node.value);
      const location = node.data?.location;
      if (location !== undefined) for (const inner of content) inner.data = { ...inner.data, location };
      return content;
    });
    parent.children = children as typeof parent.children;
  };
  expand(tree);
}

/** The opening tag of a component with a label, such as `<TabItem value="npm" label="With npm">`. */
const COMPONENT_LABEL = /<[A-Z]\w*\s(?:[^<>]*?\s)?(?:label|title)=(["'])([^<>]*?)\1[^<>]*(?<!\/)>/g;

/** Images of services that show the state of a project. */
const BADGE =
  /badge|shields\.io|(?:codecov|coveralls|circleci|travis-ci|appveyor|pepy|snyk|codacy|sonarcloud|netlify)\.\w+\/.*(?:\.svg|\.png|status|coverage)|\/workflows\/.*\.svg/i;

/** Gives links their targets, and removes badges, whose descriptions are not text of the document. */
function resolveReferences(tree: Root): void {
  const urls = new Map<string, string>();
  visit(tree, 'definition', ({ identifier, url }) => {
    urls.set(identifier, url);
  });
  visit(tree, (node, index, parent) => {
    const target = node.type === 'linkReference' ? urls.get(node.identifier) : undefined;
    if (target !== undefined) Object.assign(node, { type: 'link', url: target });
    const isImage = node.type === 'image' || node.type === 'imageReference';
    if (!isImage || index === undefined || parent === undefined) return CONTINUE;
    const url = node.type === 'image' ? node.url : (urls.get(node.identifier) ?? '');
    if (!BADGE.test(url)) return CONTINUE;
    parent.children.splice(index, 1);
    return [SKIP, index];
  });
}

function containsHtml(node: Nodes): boolean {
  return node.type === 'html' || ('children' in node && node.children.some(containsHtml));
}
