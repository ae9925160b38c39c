import { posix } from 'node:path';
import type { Root } from 'mdast';
import type { ParsedDocument } from '../../../domain/document.ts';
import { decodeText } from '../decode-text.ts';
import { htmlToMdast, parseHtmlTree } from '../html-tree.ts';
import { toParsedDocument } from '../render-tree.ts';
import { attributeValue, childElements, parseXml, readTextFields, type XmlElement } from '../xml.ts';
import { type ArchiveFiles, getFile, openArchive } from './archive.ts';
import { closeEmptyElements } from './xml-to-html.ts';

const METADATA_FIELDS = { title: 'title', author: 'creator', lang: 'language', description: 'description' };

/** The chapters of an EPUB book in reading order. */
export async function parseEpub(bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  const archive = openArchive(bytes, name, (path) => /\.(xml|opf|x?html?)$/i.test(path));
  const opfPath = packagePath(archive, name);
  const [book] = childElements(parseXml(getFile(archive, opfPath), name), 'package');
  const root: Root = { type: 'root', children: [] };
  for (const path of new Set(chapterPaths(book, opfPath))) {
    const page = parseHtmlTree(closeEmptyElements(decodeText(getFile(archive, path), `${name} (${path})`)));
    for (const node of htmlToMdast(page).children) root.children.push(node);
  }
  return toParsedDocument(root, readTextFields(childElements(book, 'metadata')[0], METADATA_FIELDS));
}

function packagePath(archive: ArchiveFiles, name: string): string {
  const [container] = childElements(parseXml(getFile(archive, 'META-INF/container.xml'), name), 'container');
  const [file] = childElements(childElements(container, 'rootfiles')[0], 'rootfile');
  return attributeValue(file, 'full-path');
}

/** The pages of the spine without the table of contents; a hostile spine repeats a page. */
function chapterPaths(book: XmlElement | undefined, opfPath: string): string[] {
  const listed = childElements(childElements(book, 'manifest')[0], 'item');
  const items = new Map(listed.map((item) => [attributeValue(item, 'id'), item]));
  return childElements(childElements(book, 'spine')[0], 'itemref').flatMap((reference) => {
    const item = items.get(attributeValue(reference, 'idref'));
    const isContents = attributeValue(item, 'properties').split(' ').includes('nav');
    const href = decodeURIComponent(attributeValue(item, 'href'));
    const isPage = /xhtml|html/.test(attributeValue(item, 'media-type'));
    return isPage && !isContents && href !== '' ? [posix.join(posix.dirname(opfPath), href)] : [];
  });
}
