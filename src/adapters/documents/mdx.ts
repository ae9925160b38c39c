import type { Root } from 'mdast';
import remarkDirective from 'remark-directive';
import remarkGfm from 'remark-gfm';
import remarkMdx from 'remark-mdx';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import type { ParsedDocument } from '../../domain/document.ts';
import { dropCodeNotations, locate, readMarkdown, restoreText } from './markdown.ts';
import { labelAdmonitions, refuseDeepNesting, takeFrontMatter } from './prepare-markdown.ts';
import { renderLine } from './render-inline.ts';
import { toDocument } from './render-tree.ts';

/** The MDX parser takes a document whole, and its time grows with the square of the length. */
const LONGEST_MDX = 400_000;

/** MDX: imports, exports and expressions go, components give their content. What is no valid MDX is read as Markdown. */
export async function parseMdx(source: string): Promise<ParsedDocument> {
  const { metadata, body, linesBefore } = takeFrontMatter(source);
  refuseDeepNesting(body);
  const tree = body.length > LONGEST_MDX ? null : readMdx(body, linesBefore);
  return toDocument(tree ?? withoutImports(await readMarkdown(body, linesBefore)), metadata);
}

function readMdx(source: string, linesBefore: number): Root | null {
  // As Docusaurus does: a heading's `{#id}` is no expression.
  const prepared = labelAdmonitions(source).replace(
    /^(#{1,6} .*)(\{:?[ \t]*[#.][^{}\n]*\}[ \t]*)$/gm,
    '$1\\$2',
  );
  const parser = unified().use(remarkParse).use(remarkGfm).use(remarkDirective);
  try {
    const tree = parser.use(remarkMdx).parse(prepared);
    restoreText(tree, prepared);
    dropCodeNotations(tree);
    locate(tree, linesBefore);
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
      (node) => node.type !== 'paragraph' || !isImport.test(renderLine(node.children)),
    ),
  };
}
