import { strToU8 } from 'fflate';
import type { RawDocument } from '../../src/domain/document.ts';
import { makeDocx, makeEpub, makeXlsx } from '../adapters/documents/make-office.ts';
import { makePdf } from '../adapters/documents/make-pdf.ts';

export interface HostileDocument extends Pick<RawDocument, 'mediaType' | 'bytes'> {
  file: string;
}

/** Small documents that took gigabytes or minutes to parse. */
export function makeHostileDocuments(): HostileDocument[] {
  const text = (file: string, mediaType: RawDocument['mediaType'], source: string): HostileDocument => ({
    file,
    mediaType,
    bytes: strToU8(source),
  });
  const row = `|${'a|'.repeat(3_000)}\n`;
  return [
    { file: 'far-cell.xlsx', mediaType: 'xlsx', bytes: makeSheet('XFD1048576') },
    { file: 'named-cell.xlsx', mediaType: 'xlsx', bytes: makeSheet('ZZZZZZZZ999999999') },
    { file: 'paragraphs.docx', mediaType: 'docx', bytes: makeDocx('<w:p/>'.repeat(2_000_000)) },
    { file: 'spine.epub', mediaType: 'epub', bytes: makeRepeatedSpine(50_000) },
    { file: 'pages.pdf', mediaType: 'pdf', bytes: makePdf(Array.from({ length: 20_000 }, pageOfPdf)) },
    text('brackets.md', 'markdown', `${'['.repeat(50_000)}${']'.repeat(50_000)}`),
    text('emphasis.md', 'markdown', '*a_ '.repeat(50_000)),
    text('table.md', 'markdown', `${row}|${'-|'.repeat(3_000)}\n${'|a\n'.repeat(20_000)}`),
    text('table.adoc', 'asciidoc', `|===\n${'|a\n'.repeat(100_000)}|===\n`),
    text('links.html', 'html', '<a href="x">'.repeat(50_000)),
  ];
}

function pageOfPdf(_: unknown, index: number): [number, number, number, string][] {
  return [[12, 72, 700, `Page ${index} of a long report.`]];
}

/** Two cells: the first one and one at `place`. */
function makeSheet(place: string): Uint8Array {
  const sheet = `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="${place.replace(/\D/g, '')}"><c r="${place}"><v>2</v></c></row></sheetData></worksheet>`;
  return makeXlsx({ Sheet: [] }, { 'xl/worksheets/sheet1.xml': sheet });
}

function makeRepeatedSpine(count: number): Uint8Array {
  return makeEpub(['<p>A paragraph.</p>'.repeat(500)], {
    'OEBPS/book.opf': `<package><manifest><item id="c0" href="text/c0%20x.xhtml" media-type="application/xhtml+xml"/></manifest><spine>${'<itemref idref="c0"/>'.repeat(count)}</spine></package>`,
  });
}
