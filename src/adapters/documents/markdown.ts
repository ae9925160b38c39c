import { setImmediate } from 'node:timers/promises';
import type { Root } from 'mdast';
import remarkDirective from 'remark-directive';
import remarkFrontmatter from 'remark-frontmatter';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import type { ParsedDocument } from '../../domain/document.ts';
import { labelAdmonitions, restoreText } from './directives.ts';
import { expandHtml } from './expand-html.ts';
import { readFrontMatter } from './front-matter.ts';
import { splitMarkdown } from './markdown-pieces.ts';
import { toDocument } from './to-document.ts';

/** GitHub Flavoured Markdown with front matter, admonitions and raw HTML. */
export async function parseMarkdown(source: string): Promise<ParsedDocument> {
  return treeToDocument(await readMarkdown(source));
}

export async function readMarkdown(source: string): Promise<Root> {
  refuseDeepNesting(source);
  const parser = unified()
    .use(remarkParse)
    .use(remarkGfm)
    .use(remarkDirective)
    .use(remarkFrontmatter)
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

export function treeToDocument(root: Root): ParsedDocument {
  const first = root.children[0];
  return toDocument(root, first?.type === 'yaml' ? readFrontMatter(first.value) : {});
}

/** Lists and quotes inside each other on one line, which no document means, would take the parser for ever. */
function refuseDeepNesting(source: string): void {
  if (/^[ \t]*(?:(?:>[ \t]?|(?:[-+*]|\d{1,9}[.)])[ \t]+)[ \t]*){200}[^\s\-+*>]/m.test(source)) {
    throw new RangeError('A line opens more than 200 lists or quotes inside each other.');
  }
}
