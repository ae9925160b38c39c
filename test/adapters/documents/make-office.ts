import { strToU8, zipSync } from 'fflate';

/** An archive of text files, as Word, Excel and EPUB documents are. */
export function makeArchive(files: Record<string, string>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)])));
}

const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

function relations(targets: readonly (readonly [kind: string, target: string])[]): string {
  const list = targets.map(
    ([kind, target], index) =>
      `<Relationship Id="r${index + 1}" Type="${RELATIONS}/${kind}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list.join('')}</Relationships>`;
}

/** A paragraph of a Word document; `list` is its depth in a list, from 0. */
export function wordParagraph(text: string, { style = '', list = -1 } = {}): string {
  const numbers = list < 0 ? '' : `<w:numPr><w:ilvl w:val="${list}"/><w:numId w:val="1"/></w:numPr>`;
  const properties = style === '' ? numbers : `<w:pStyle w:val="${style}"/>${numbers}`;
  return `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

export function wordTable(rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[]) => row.map((cell) => `<w:tc>${wordParagraph(cell)}</w:tc>`).join('');
  return `<w:tbl>${rows.map((row) => `<w:tr>${cells(row)}</w:tr>`).join('')}</w:tbl>`;
}

export function makeDocx(body: string, title = ''): Uint8Array {
  const open = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  const styles = ['Title', 'heading 1', 'heading 2'].map(
    (name) =>
      `<w:style w:type="paragraph" w:styleId="${name.replace(' ', '')}"><w:name w:val="${name}"/></w:style>`,
  );
  const level = (depth: number) =>
    `<w:lvl w:ilvl="${depth}"><w:numFmt w:val="${depth === 0 ? 'bullet' : 'decimal'}"/></w:lvl>`;
  return makeArchive({
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    '_rels/.rels': relations([['officeDocument', 'word/document.xml']]),
    'word/document.xml': `<w:document ${open}><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relations([
      ['numbering', 'numbering.xml'],
      ['styles', 'styles.xml'],
    ]),
    'word/styles.xml': `<w:styles ${open}>${styles.join('')}</w:styles>`,
    'word/numbering.xml': `<w:numbering ${open}><w:abstractNum w:abstractNumId="0">${level(0)}${level(1)}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`,
    'docProps/core.xml': `<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>${title}</dc:title></cp:coreProperties>`,
  });
}

/** A workbook; a number in a list of its own is a date. `more` adds files or replaces them. */
export function makeXlsx(
  sheets: Record<string, (string | number | [number])[][]>,
  more: Record<string, string> = {},
): Uint8Array {
  const names = Object.keys(sheets);
  const open = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  const cell = (value: string | number | [number], row: number, column: number): string => {
    const place = `r="${String.fromCharCode(65 + column)}${row + 1}"`;
    if (typeof value === 'string') return `<c ${place} t="inlineStr"><is><t>${value}</t></is></c>`;
    return Array.isArray(value)
      ? `<c ${place} s="1"><v>${value[0]}</v></c>`
      : `<c ${place}><v>${value}</v></c>`;
  };
  const sheet = (rows: (string | number | [number])[][]): string => {
    const lines = rows.map(
      (row, index) =>
        `<row r="${index + 1}">${row.map((value, column) => cell(value, index, column)).join('')}</row>`,
    );
    return `<worksheet ${open}><sheetData>${lines.join('')}</sheetData></worksheet>`;
  };
  return makeArchive({
    '_rels/.rels': relations([['officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `<workbook ${open} xmlns:r="${RELATIONS}"><sheets>${names.map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="r${index + 1}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations([
      ...names.map((_, index) => ['worksheet', `worksheets/sheet${index + 1}.xml`] as const),
      ['styles', 'styles.xml'],
    ]),
    'xl/styles.xml': `<styleSheet ${open}><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    ...Object.fromEntries(
      names.map((name, index) => [`xl/worksheets/sheet${index + 1}.xml`, sheet(sheets[name] ?? [])]),
    ),
    ...more,
  });
}

/** A book of chapters, each the body of a page; `more` adds files or replaces them. */
export function makeEpub(chapters: readonly string[], more: Record<string, string> = {}): Uint8Array {
  const item = (id: string, extra = '') =>
    `<item id="${id}" href="text/${id}%20x.xhtml" media-type="application/xhtml+xml"${extra}/>`;
  const ids = chapters.map((_, index) => `c${index}`);
  return makeArchive({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
    'OEBPS/book.opf': `<package><metadata xmlns:dc="d"><dc:title>Sea &amp; Wind</dc:title><dc:creator>Bo</dc:creator></metadata><manifest>${item('nav', ' properties="nav"')}${ids
      .map((id) => item(id))
      .reverse()
      .join(
        '',
      )}</manifest><spine>${['nav', ...ids].map((id) => `<itemref idref="${id}"/>`).join('')}</spine></package>`,
    'OEBPS/text/nav x.xhtml': '<html><body>Contents</body></html>',
    ...Object.fromEntries(
      chapters.map((body, index) => [
        `OEBPS/text/c${index} x.xhtml`,
        `<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>${body}</body></html>`,
      ]),
    ),
    ...more,
  });
}

/** An OpenDocument text; `body` is the content of `office:text`. */
export function makeOdt(body: string, title = ''): Uint8Array {
  const names = ['office', 'text', 'table'].map(
    (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
  );
  return makeArchive({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': `<office:document-content ${names.join(' ')} xmlns:xlink="x"><office:body><office:text text:use-soft-page-breaks="true">${body}</office:text></office:body></office:document-content>`,
    'meta.xml': `<office:document-meta ${names[0]} xmlns:dc="d"><office:meta><dc:title>${title}</dc:title></office:meta></office:document-meta>`,
  });
}

/** A shape of a slide; `placeholder` is the attributes of `p:ph`. */
export function slideShape(paragraphs: readonly string[], placeholder?: string): string {
  const lines = paragraphs.map((text) => `<a:p><a:r><a:rPr lang="en"/><a:t>${text}</a:t></a:r></a:p>`);
  const mark = placeholder === undefined ? '' : `<p:ph ${placeholder}/>`;
  return `<p:sp><p:nvSpPr><p:nvPr>${mark}</p:nvPr></p:nvSpPr><p:txBody><a:bodyPr/>${lines.join('')}</p:txBody></p:sp>`;
}

/** A presentation whose slides are stored in reverse order; `notes` belong to the first slide. */
export function makePptx(slides: readonly string[], notes = ''): Uint8Array {
  const file = (index: number) => `slides/slide${slides.length - index}.xml`;
  const page = (content: string) => `<p:sld><p:cSld><p:spTree>${content}</p:spTree></p:cSld></p:sld>`;
  return makeArchive({
    'ppt/presentation.xml': `<p:presentation xmlns:p="p" xmlns:r="${RELATIONS}"><p:sldIdLst>${slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="r${index + 1}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(slides.map((_, index) => ['slide', file(index)] as const)),
    ...Object.fromEntries(slides.map((content, index) => [`ppt/${file(index)}`, page(content)])),
    [`ppt/slides/_rels/slide${slides.length}.xml.rels`]: relations([
      ['notesSlide', '../notesSlides/notesSlide1.xml'],
    ]),
    'ppt/notesSlides/notesSlide1.xml': page(slideShape([notes], 'type="body" idx="1"')),
    'docProps/core.xml':
      '<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>Pumps</dc:title></cp:coreProperties>',
  });
}
