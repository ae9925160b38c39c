import type { Root } from 'mdast';
import remarkDirective from 'remark-directive';
import remarkGfm from 'remark-gfm';
import remarkMdx from 'remark-mdx';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import type { ParsedDocument } from '../../domain/document.ts';
import { addLineLocations, parseMarkdownTree, restoreDirectiveText } from './markdown.ts';
import { assertNestingLimit, labelAdmonitions, splitFrontMatter } from './prepare-markdown.ts';
import { renderSingleLine } from './render-inline.ts';
import { toParsedDocument } from './render-tree.ts';

/** The MDX parser takes quadratic time. Longer documents are parsed as Markdown. */
const MAX_MDX_LENGTH = 400_000;

/** MDX without imports, exports and expressions; components are replaced by their content. Invalid MDX is parsed as Markdown. */
export async function parseMdx(source: string): Promise<ParsedDocument> {
  const { metadata, body, linesBefore } = splitFrontMatter(source);
  assertNestingLimit(body);
  const tree = body.length > MAX_MDX_LENGTH ? null : parseMdxTree(body, linesBefore);
  return toParsedDocument(tree ?? withoutImports(await parseMarkdownTree(body, linesBefore)), metadata);
}

function parseMdxTree(source: string, linesBefore: number): Root | null {
  // In Docusaurus, `{#id}` after a heading is not an expression.
  const prepared = labelAdmonitions(source).replace(
    /^(#{1,6} .*)(\{:?[ \t]*[#.][^{}\n]*\}[ \t]*)$/gm,
    '$1\\$2',
  );
  const parser = unified().use(remarkParse).use(remarkGfm).use(remarkDirective);
  try {
    const tree = parser.use(remarkMdx).parse(prepared);
    restoreDirectiveText(tree, prepared);
    addLineLocations(tree, linesBefore);
    return tree;
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return null;
  }
}

function withoutImports(tree: Root): Root {
  const isImport = /^(import\s.*['"];?|export\s+(const|default|function)\s.*[;}])$/;
  return {
    type: 'root',
    children: tree.children.filter(
      (node) => node.type !== 'paragraph' || !isImport.test(renderSingleLine(node.children)),
    ),
  };
}
