import type { ParsedDocument } from '../../../domain/document.ts';
import { brokenDocument } from '../decode-text.ts';
import { htmlToMdast, parseHtmlTree } from '../html-tree.ts';
import { toDocument } from '../render-tree.ts';
import { type Archive, children, openArchive, packPlainly, parseXml, textOf } from './archive.ts';

/** Styles besides the headings that Word itself defines and that say what a paragraph is. */
const STYLES = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='HTML Preformatted'] => pre:separator('\\n')",
  "p[style-name='Code'] => pre:separator('\\n')",
  "p[style-name='Source Code'] => pre:separator('\\n')",
];

/** A Word document: headings, paragraphs, lists, tables, footnotes, and what pictures are said to show. */
export async function parseDocx(bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  try {
    const archive = openArchive(bytes, name, (path) => /\.(xml|rels)$/i.test(path));
    const { default: mammoth } = await import('mammoth');
    const { value: html } = await mammoth.convertToHtml(
      { buffer: Buffer.from(packPlainly(archive)) },
      {
        styleMap: STYLES,
        convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
        externalFileAccess: false,
      },
    );
    return toDocument(htmlToMdast(parseHtmlTree(html)), readProperties(archive, name));
  } catch (error) {
    const hint = 'Check that it opens in a word processor; saving it again there often repairs it.';
    throw brokenDocument(name, 'a Word document', error, hint);
  }
}

/** Title, author and subject, as far as they were filled in. */
export function readProperties(archive: Archive, name: string): Record<string, string> {
  const part = archive['docProps/core.xml'];
  if (part === undefined) return {};
  const [properties] = children(parseXml(part, name), 'coreProperties');
  const fields = [
    ['title', 'title'],
    ['author', 'creator'],
    ['subject', 'subject'],
    ['keywords', 'keywords'],
  ] as const;
  return Object.fromEntries(
    fields.flatMap(([field, element]) => {
      const value = textOf(properties, element);
      return value === '' ? [] : [[field, value]];
    }),
  );
}
