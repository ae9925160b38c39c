import { setImmediate } from 'node:timers/promises';
import type { Root } from 'mdast';
import remarkDirective from 'remark-directive';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import type { ParsedDocument } from '../../domain/document.ts';
import { labelAdmonitions, restoreText } from './directives.ts';
import { expandHtml } from './expand-html.ts';
import { takeFrontMatter } from './front-matter.ts';
import { refuseDeepNesting } from './markdown-nesting.ts';
import { splitMarkdown } from './markdown-pieces.ts';
import { toDocument } from './to-document.ts';

/** GitHub Flavoured Markdown with front matter, admonitions and raw HTML. */
export async function parseMarkdown(source: string): Promise<ParsedDocument> {
  const { metadata, body } = takeFrontMatter(source);
  return toDocument(await readMarkdown(body), metadata);
}

export async function readMarkdown(source: string): Promise<Root> {
  refuseDeepNesting(source);
  const parser = unified()
    .use(remarkParse)
    .use(remarkGfm)
    .use(remarkDirective)

    .freeze();
  const root: Root = { type: 'root', children: [] };
  for (const piece of splitMarkdown(labelAdmonitions(source))) {
    const tree = parser.parse(piece);
    restoreText(tree, piece);
    await expandHtml(tree);
    for (const node of tree.children) root.children.push(node);
    await setImmediate(); // A long document must not keep Ctrl-C waiting.
  }
  return root;
}
