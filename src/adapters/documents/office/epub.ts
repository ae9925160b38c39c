import { posix } from 'node:path';
import type { Root } from 'mdast';
import type { ParsedDocument } from '../../../domain/document.ts';
import { AppError } from '../../../faults/app-error.ts';
import { brokenDocument, decodeText } from '../decode-text.ts';
import { htmlToMdast, parseHtmlTree } from '../html-tree.ts';
import { toDocument } from '../render-tree.ts';
import { type Archive, attribute, children, type Element, openArchive, parseXml, textOf } from './archive.ts';

/** An EPUB book: its chapters in the order in which they are read. */
export async function parseEpub(bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  try {
    const archive = openArchive(bytes, name, (path) => /\.(xml|opf|x?html?)$/i.test(path));
    const opfPath = packagePath(archive, name);
    const [book] = children(parseXml(part(archive, opfPath), name), 'package');
    const root: Root = { type: 'root', children: [] };
    for (const path of chapterPaths(book, opfPath)) {
      refuseEncrypted(archive, path, name);
      const page = parseHtmlTree(asHtml(decodeText(part(archive, path), `${name} (${path})`)));
      for (const node of htmlToMdast(page).children) root.children.push(node);
    }
    return toDocument(root, readMetadata(book));
  } catch (error) {
    const hint = 'Check that it opens in a reader of e-books; converting it to EPUB again often repairs it.';
    throw brokenDocument(name, 'an EPUB', error, hint);
  }
}

function packagePath(archive: Archive, name: string): string {
  const [container] = children(parseXml(part(archive, 'META-INF/container.xml'), name), 'container');
  const [file] = children(children(container, 'rootfiles')[0], 'rootfile');
  return attribute(file, 'full-path');
}

function part(archive: Archive, path: string): Uint8Array {
  const found = archive[path];
  if (found === undefined) throw new Error(`${path || 'the list of its files'} is missing`);
  return found;
}

/** What the spine lists, without the table of contents. */
function chapterPaths(book: Element | undefined, opfPath: string): string[] {
  const items = new Map(
    children(children(book, 'manifest')[0], 'item').map((item) => [attribute(item, 'id'), item]),
  );
  return children(children(book, 'spine')[0], 'itemref').flatMap((reference) => {
    const item = items.get(attribute(reference, 'idref'));
    const isContents = attribute(item, 'properties').split(' ').includes('nav');
    const href = decodeURIComponent(attribute(item, 'href'));
    const isPage = /xhtml|html/.test(attribute(item, 'media-type'));
    return isPage && !isContents && href !== '' ? [posix.join(posix.dirname(opfPath), href)] : [];
  });
}

/** Shops encrypt chapters, which nothing but their own reader opens; fonts alone may be encrypted in any book. */
function refuseEncrypted(archive: Archive, path: string, name: string): void {
  const list = archive['META-INF/encryption.xml'];
  if (list === undefined || !new TextDecoder().decode(list).includes(`URI="${encodeURI(path)}"`)) return;
  throw new AppError('invalid_input', `${name} is protected against copying`, {
    hint: 'Only the shop it comes from can give a copy without protection.',
  });
}

/** XHTML as HTML: an element that closes itself, such as an empty title, would otherwise swallow what follows. */
function asHtml(source: string): string {
  const void_ = /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i;
  return source.replace(/<([a-z][\w:-]*)((?:\s[^<>]*)?)\/>/gi, (whole, tag: string, rest: string) =>
    void_.test(tag) ? whole : `<${tag}${rest}></${tag}>`,
  );
}

function readMetadata(book: Element | undefined): Record<string, string> {
  const [metadata] = children(book, 'metadata');
  const fields = [
    ['title', 'title'],
    ['author', 'creator'],
    ['lang', 'language'],
    ['description', 'description'],
  ] as const;
  return Object.fromEntries(
    fields.flatMap(([field, element]) => {
      const value = textOf(metadata, element);
      return value === '' ? [] : [[field, value]];
    }),
  );
}
