import { posix } from 'node:path';
import type { Root } from 'mdast';
import type { ParsedDocument } from '../../../domain/document.ts';
import { decodeText } from '../decode-text.ts';
import { htmlToMdast, parseHtmlTree } from '../html-tree.ts';
import { toParsedDocument } from '../render-tree.ts';
import { attributeValue, childElements, parseXml } from '../xml.ts';
import { type ArchiveFiles, getFile, openArchive } from './archive.ts';
import { readOfficeProperties } from './docx.ts';
import { xmlToHtml } from './xml-to-html.ts';

const PRESENTATION = 'ppt/presentation.xml';
const TABLE_ELEMENTS: Readonly<Record<string, string>> = {
  'a:tbl': 'table',
  'a:tr': 'tr',
  'a:tc': 'td',
  'a:br': 'br',
};

/** A presentation: a section per slide with its title, text, tables and notes. Slides are numbered from 1, as pages. */
export async function parsePptx(bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  const archive = openArchive(bytes, name, (path) => /\.(xml|rels)$/i.test(path));
  const root: Root = { type: 'root', children: [] };
  for (const [index, slide] of slidePaths(archive, name).entries()) {
    const location = { unit: 'page', from: index + 1, to: index + 1 } as const;
    const notes = [...relationTargets(archive, slide, name).values()].filter((path) =>
      path.startsWith('ppt/notesSlides/'),
    );
    const html = [slide, ...notes].map((path) => slideToHtml(decodeText(getFile(archive, path), name)));
    for (const node of htmlToMdast(parseHtmlTree(html.join(''))).children) {
      node.data = { ...node.data, location };
      root.children.push(node);
    }
  }
  return toParsedDocument(root, readOfficeProperties(archive, name));
}

function slidePaths(archive: ArchiveFiles, name: string): string[] {
  const presentation = decodeText(getFile(archive, PRESENTATION), name);
  const targets = relationTargets(archive, PRESENTATION, name);
  const ids = [...presentation.matchAll(/<p:sldId\b[^>]*\br:id="([^"]*)"/g)];
  return [...new Set(ids.flatMap(([, id = '']) => targets.get(id) ?? []))];
}

/** The files that a part of the archive refers to, by the id of the relation. */
function relationTargets(archive: ArchiveFiles, path: string, name: string): Map<string, string> {
  const rels = archive[posix.join(posix.dirname(path), '_rels', `${posix.basename(path)}.rels`)];
  const [root] = rels === undefined ? [] : childElements(parseXml(rels, name), 'Relationships');
  return new Map(
    childElements(root, 'Relationship').map((relation) => [
      attributeValue(relation, 'Id'),
      posix.resolve('/', posix.dirname(path), attributeValue(relation, 'Target')).slice(1),
    ]),
  );
}

/** The shapes of a slide: its title as a heading, placeholders for text as lists, other text as paragraphs. */
function slideToHtml(xml: string): string {
  return xmlToHtml(
    xml.replace(/<p:sp\b.*?<\/p:sp>/gs, (shape) => {
      const placeholder = /<p:ph\b([^>]*)>/.exec(shape)?.[1];
      const type = /\btype="(\w+)"/.exec(placeholder ?? '')?.[1] ?? (placeholder === undefined ? '' : 'list');
      if (/^(?:sldNum|dt|ftr|hdr|sldImg)$/.test(type)) return '';
      const text = (paragraph: string) =>
        xmlToHtml(shape, (name) => (name === 'a:p' ? paragraph : TABLE_ELEMENTS[name]));
      if (/^(?:title|ctrTitle)$/.test(type)) return `<h2>${text('span')}</h2>`;
      return type === 'list' ? `<ul>${text('li')}</ul>` : text('p');
    }),
    (name) => (name === 'a:p' ? 'p' : TABLE_ELEMENTS[name]),
  );
}
