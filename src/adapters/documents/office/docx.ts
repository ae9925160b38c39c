import type { ParsedDocument } from '../../../domain/document.ts';
import { htmlToMdast, parseHtmlTree } from '../html-tree.ts';
import { toParsedDocument } from '../render-tree.ts';
import { childElements, parseXml, readTextFields } from '../xml.ts';
import { type ArchiveFiles, openArchive, repackArchive } from './archive.ts';

/** Mappings for styles that mammoth does not map. */
const STYLE_MAP = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='HTML Preformatted'] => pre:separator('\\n')",
  "p[style-name='Code'] => pre:separator('\\n')",
  "p[style-name='Source Code'] => pre:separator('\\n')",
];

/** A Word document: headings, paragraphs, lists, tables, footnotes and the descriptions of images. */
export async function parseDocx(bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  const archive = openArchive(bytes, name, (path) => /\.(xml|rels)$/i.test(path));
  const { default: mammoth } = await import('mammoth');
  const { value: html } = await mammoth.convertToHtml(
    { buffer: Buffer.from(repackArchive(archive)) },
    {
      styleMap: STYLE_MAP,
      convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
      externalFileAccess: false,
    },
  );
  return toParsedDocument(htmlToMdast(parseHtmlTree(html)), readOfficeProperties(archive, name));
}

const PROPERTY_FIELDS = { title: 'title', author: 'creator', subject: 'subject', keywords: 'keywords' };

/** Title, author, subject and keywords that are not empty. */
export function readOfficeProperties(archive: ArchiveFiles, name: string): Record<string, string> {
  const core = archive['docProps/core.xml'];
  if (core === undefined) return {};
  return readTextFields(childElements(parseXml(core, name), 'coreProperties')[0], PROPERTY_FIELDS);
}
