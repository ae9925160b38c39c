import type { ElementContent, Root } from 'hast';
import { visit } from 'unist-util-visit';
import type { ParsedDocument } from '../../domain/document.ts';
import { findOutermostElements, htmlToMdast, nodeText, parseHtmlTree } from './html-tree.ts';
import { toParsedDocument } from './render-tree.ts';

/** AsciiDoc, converted by Asciidoctor in its secure mode, without includes and network access. */
export async function parseAsciidoc(source: string): Promise<ParsedDocument> {
  const { load, LoggerManager, NullLogger } = await import('@asciidoctor/core');
  // Asciidoctor would print warnings about the document.
  LoggerManager.setLogger(new NullLogger());
  const document = await load(source, { safe: 'secure', standalone: false, attributes: { showtitle: '' } });
  const page = parseHtmlTree(await document.convert());
  unfoldAdmonitions(page);
  return toParsedDocument(htmlToMdast(page), {});
}

/** Converts admonitions, which are tables of an icon and a text, to paragraphs that start with their kind. */
function unfoldAdmonitions(page: Root): void {
  visit(page, 'element', (node) => {
    const { className } = node.properties;
    if (!Array.isArray(className) || !className.includes('admonitionblock')) return;
    const [icon, content] = findOutermostElements(node, ({ tagName }) => tagName === 'td');
    if (icon === undefined || content === undefined) return;
    const lead: ElementContent = { type: 'text', value: `${nodeText(icon).trim()}: ` };
    const [paragraph] = findOutermostElements(content, ({ tagName }) => tagName === 'p');
    if (paragraph === undefined) {
      node.children = [
        { type: 'element', tagName: 'p', properties: {}, children: [lead, ...content.children] },
      ];
    } else {
      paragraph.children.unshift(lead);
      node.children = content.children;
    }
  });
}
