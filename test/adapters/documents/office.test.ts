import { expect, test } from 'vitest';
import {
  makeArchive,
  makeDocx,
  makeEpub,
  makeOdt,
  makePptx,
  makeXlsx,
  slideShape,
  wordParagraph,
  wordTable,
} from './make-office.ts';
import { blocksOf, parseSource } from './parse-source.ts';

test('parses headings, lists, tables and title of a Word document', async () => {
  const bytes = makeDocx(
    wordParagraph('Safety', { style: 'heading1' }) +
      wordParagraph('Wear gloves &amp; goggles.') +
      wordParagraph('first', { list: 0 }) +
      wordParagraph('inside', { list: 1 }) +
      wordTable([
        ['Part', 'Price'],
        ['Seal', '12 EUR'],
      ]),
    'Pump &#8211; manual',
  );
  const document = await parseSource('docx', bytes);
  expect(document.title).toBe('Pump – manual');
  expect(blocksOf(document)).toEqual([
    ['heading', 1, 'Safety'],
    ['paragraph', 0, 'Wear gloves & goggles.'],
    ['item', 1, '- first'],
    ['item', 2, '1. inside'],
    ['table', 0, '| Part | Price |\n| --- | --- |\n| Seal | 12 EUR |'],
  ]);
});

test('parses the chapters of an EPUB in the order of its spine without the table of contents', async () => {
  const chapters = ['<h1>Tides</h1><p><a id="x"/>The moon pulls.</p>', '<h1>Wind</h1><p>It blows.</p>'];
  const document = await parseSource('epub', makeEpub(chapters));
  expect(document).toMatchObject({ title: 'Sea & Wind', metadata: { author: 'Bo' } });
  expect(document.text).toBe('Tides\n\nThe moon pulls.\n\nWind\n\nIt blows.');
});

test('parses the sheets of a workbook with titles, tables, dates and row numbers', async () => {
  const stock = [
    ['Stock of the year'],
    [],
    ['Part', 'Count', 'Since'],
    ['Seal', 12, [45292]],
    ['Valve | big', 3.5, [45300.5]],
  ];
  const shops = [[], ['Shop', 'Town'], ['A', 'Bonn']];
  const bytes = makeXlsx({
    Stock: [...stock, ...shops] as Parameters<typeof makeXlsx>[0][string],
    Empty: [],
  });
  const document = await parseSource('xlsx', bytes);
  expect(blocksOf(document)).toEqual([
    ['heading', 2, 'Stock'],
    ['paragraph', 0, 'Stock of the year'],
    [
      'table',
      0,
      '| Part | Count | Since |\n| --- | --- | --- |\n| Seal | 12 | 2024-01-01 |\n| Valve \\| big | 3.5 | 2024-01-09 12:00 |',
    ],
    ['table', 0, '| Shop | Town |\n| --- | --- |\n| A | Bonn |'],
    ['heading', 2, 'Empty'],
  ]);
  expect(
    document.blocks.map(({ location }) => location && [location.unit, location.from, location.to]),
  ).toEqual([undefined, ['row', 1, 1], ['row', 4, 5], ['row', 8, 8], undefined]);
});

const entities = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>';

test.each([
  ['docx', 'no archive', new Uint8Array(20), /cannot be read as a Word document/],
  ['xlsx', 'no archive', new Uint8Array(20), /cannot be read as an Excel workbook/],
  ['epub', 'no archive', new Uint8Array(20), /cannot be read as an EPUB/],
  ['docx', 'another archive', makeArchive({ 'a.txt': 'a' }), /cannot be read as a Word document/],
  ['xlsx', 'another archive', makeArchive({ 'a.txt': 'a' }), /cannot be read as an Excel workbook/],
  ['epub', 'another archive', makeArchive({ 'a.txt': 'a' }), /META-INF\/container.xml is missing/],
  ['docx', 'half of it', makeDocx(wordParagraph('text')).slice(0, 900), /cannot be read as a Word document/],
  ['docx', 'broken XML', makeDocx('<w:p>'), /cannot be read as a Word document/],
  ['docx', 'an encrypted one', Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0), /has a password/],
  ['epub', 'entities', makeEpub(['a'], { 'OEBPS/book.opf': `${entities}<package>&b;</package>` }), /DTD/],
  [
    'docx',
    'a bomb',
    makeArchive({ 'word/document.xml': ' '.repeat(140_000_000) }),
    /unpacks to more than 128 MB/,
  ],
] as const)('rejects a %s that is %s', async (mediaType, _, bytes, message) => {
  await expect(parseSource(mediaType, bytes)).rejects.toMatchObject({
    name: 'AppError',
    kind: 'invalid_input',
    message: expect.stringMatching(message),
  });
});

test('unpacks no more of an archive than it declares', async () => {
  const honest = makeDocx(wordParagraph('a'.repeat(3_000)));
  const view = new DataView(honest.buffer);
  for (let at = 0; at < honest.length - 46; at += 1) {
    if (view.getUint32(at, true) !== 0x02014b50) continue;
    const name = new TextDecoder().decode(honest.subarray(at + 46, at + 46 + view.getUint16(at + 28, true)));
    if (name === 'word/document.xml') view.setUint32(at + 24, 100, true);
  }
  await expect(parseSource('docx', honest)).rejects.toThrow(/cannot be read as a Word document/);
});

test('parses headings, lists, tables, links and footnotes of an OpenDocument text', async () => {
  const item = (text: string) => `<text:list-item><text:p>${text}</text:p></text:list-item>`;
  const row = (cells: readonly string[]) =>
    `<table:table-row>${cells.map((cell) => `<table:table-cell><text:p>${cell}</text:p></table:table-cell>`).join('')}</table:table-row>`;
  const bytes = makeOdt(
    '<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>' +
      '<text:h text:outline-level="2">Safety</text:h>' +
      '<text:p>Wear<text:s text:c="2"/>gloves &amp; <text:span>goggles</text:span><text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Both.</text:p></text:note-body></text:note>; see <text:a xlink:href="https://x.y/z">the site</text:a>.</text:p>' +
      `<text:list>${item('one')}${item('two')}</text:list>` +
      `<table:table>${row(['Part', 'Price'])}${row(['Seal', '12'])}</table:table>`,
    'Pumps',
  );
  const document = await parseSource('odt', bytes);
  expect(document.title).toBe('Pumps');
  expect(blocksOf(document)).toEqual([
    ['heading', 2, 'Safety'],
    ['paragraph', 0, 'Wear gloves & goggles (Both.); see [the site](https://x.y/z).'],
    ['item', 1, '- one'],
    ['item', 1, '- two'],
    ['table', 0, '| Part | Price |\n| --- | --- |\n| Seal | 12 |'],
  ]);
});

test('parses the slides of a presentation in their order with tables and notes', async () => {
  const table =
    '<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Part</a:t></a:r></a:p></a:txBody></a:tc></a:tr><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Seal</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>';
  const first = slideShape(['Why'], 'type="title"') + slideShape(['cheap', 'fast'], 'idx="1"');
  const second =
    slideShape(['Parts'], 'type="ctrTitle"') +
    slideShape(['A box.']) +
    table +
    slideShape(['2'], 'type="sldNum"');
  const document = await parseSource('pptx', makePptx([first, second], 'Say hello.'));
  expect(document.title).toBe('Pumps');
  expect(blocksOf(document)).toEqual([
    ['heading', 2, 'Why'],
    ['item', 1, '- cheap'],
    ['item', 1, '- fast'],
    ['paragraph', 0, 'Say hello.'],
    ['heading', 2, 'Parts'],
    ['paragraph', 0, 'A box.'],
    ['table', 0, '| Part |\n| --- |\n| Seal |'],
  ]);
  expect(document.blocks.map(({ location }) => location?.from)).toEqual([1, 1, 1, 1, 2, 2, 2]);
});

test.each(['odt', 'pptx'] as const)('rejects an archive that is no %s file', async (mediaType) => {
  await expect(parseSource(mediaType, makeArchive({ 'a.xml': '<a/>' }))).rejects.toMatchObject({
    kind: 'invalid_input',
  });
});
