import type { ParsedDocument } from '../../../domain/document.ts';
import { decodeText } from '../decode-text.ts';
import { htmlToMdast, parseHtmlTree } from '../html-tree.ts';
import { toParsedDocument } from '../render-tree.ts';
import { childElements, parseXml, readTextFields } from '../xml.ts';
import { getFile, openArchive } from './archive.ts';
import { xmlToHtml } from './xml-to-html.ts';

const ELEMENTS: Readonly<Record<string, string>> = {
  'text:p': 'p',
  'text:list': 'ul',
  'text:list-item': 'li',
  'text:line-break': 'br',
  'table:table': 'table',
  'table:table-header-rows': 'thead',
  'table:table-row': 'tr',
  'table:table-cell': 'td',
  // Dropped with their content.
  'text:tracked-changes': 'template',
  'text:table-of-content': 'template',
  'office:annotation': 'template',
};
const METADATA_FIELDS = { title: 'title', author: 'creator', subject: 'subject', description: 'description' };

/** An OpenDocument text: headings, paragraphs, lists, tables and links. */
export async function parseOdt(bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  const archive = openArchive(bytes, name, (path) => path === 'content.xml' || path === 'meta.xml');
  const content = decodeText(getFile(archive, 'content.xml'), name);
  const prefixes = content.matchAll(
    /xmlns:(\w+)="urn:oasis:names:tc:opendocument:xmlns:(office|text|table):1.0"/g,
  );
  const xml = [...prefixes].reduce(
    (text, [, prefix, usual]) => text.replaceAll(new RegExp(`(</?)${prefix}:`, 'g'), `$1${usual}:`),
    content,
  );
  const body = /<office:text\b[^>]*>.*<\/office:text>/s.exec(xml)?.[0];
  if (body === undefined) throw new Error('it has no text');
  const meta = archive['meta.xml'];
  const [root] = meta === undefined ? [] : childElements(parseXml(meta, name), 'document-meta');
  const metadata = readTextFields(childElements(root, 'meta')[0], METADATA_FIELDS);
  return toParsedDocument(htmlToMdast(parseHtmlTree(xmlToHtml(unfoldInline(body), toHtmlElement))), metadata);
}

/** Replaces the elements for spaces and tabs by a space, and puts footnotes in parentheses. */
function unfoldInline(xml: string): string {
  return xml
    .replace(/<text:(?:s|tab)\b[^>]*\/>/g, ' ')
    .replace(/<text:note\b.*?<text:note-body>(.*?)<\/text:note-body><\/text:note>/gs, (_, note: string) => {
      return ` (${note.replace(/<[^>]*>/g, '')})`;
    });
}

function toHtmlElement(name: string, attributes: string): string | undefined {
  if (name === 'text:a') return `a href=${/\bhref=("[^"]*"|'[^']*')/.exec(attributes)?.[1] ?? '""'}`;
  if (name !== 'text:h') return ELEMENTS[name];
  const level = Number(/outline-level="(\d+)"/.exec(attributes)?.[1] ?? 1);
  return `h${Math.min(6, Math.max(1, level))}`;
}
