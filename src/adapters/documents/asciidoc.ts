import type { Element, ElementContent, Root } from 'hast';
import { visit } from 'unist-util-visit';
import type { ParsedDocument } from '../../domain/document.ts';
import { brokenDocument } from './decode-text.ts';
import { htmlToMdast, parseHtmlTree, textOf } from './html-tree.ts';
import { toDocument } from './render-tree.ts';

/** AsciiDoc, as its own processor reads it; it may include no file and fetch nothing. */
export async function parseAsciidoc(source: string, name: string): Promise<ParsedDocument> {
  const { load, LoggerManager, NullLogger } = await import('@asciidoctor/core');
  // It would print its own remarks on the document.
  LoggerManager.setLogger(new NullLogger());
  try {
    const document = await load(source, { safe: 'secure', standalone: false, attributes: { showtitle: '' } });
    const page = parseHtmlTree(await document.convert());
    unfoldAdmonitions(page);
    return toDocument(htmlToMdast(page), {});
  } catch (error) {
    throw brokenDocument(name, 'AsciiDoc', error, 'Check that Asciidoctor can convert it.');
  }
}

/** A note comes as a table of an icon and its text; it reads as a paragraph that says what it is. */
function unfoldAdmonitions(page: Root): void {
  visit(page, 'element', (node) => {
    const { className } = node.properties;
    if (!Array.isArray(className) || !className.includes('admonitionblock')) return;
    const cells: Element[] = [];
    visit(node, 'element', (inner) => {
      if (inner.tagName === 'td') cells.push(inner);
    });
    const [icon, content] = cells;
    if (icon === undefined || content === undefined) return;
    const lead: ElementContent = { type: 'text', value: `${textOf(icon).trim()}: ` };
    const paragraph = firstParagraph(content);
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

function firstParagraph(cell: Element): Element | undefined {
  let first: Element | undefined;
  visit(cell, 'element', (inner) => {
    if (inner.tagName === 'p') first ??= inner;
  });
  return first;
}
