import { expect, test } from 'vitest';
import { makePdf, type PdfLine } from './make-pdf.ts';
import { blocksOf, parseSource } from './parse-source.ts';

const pdf = (bytes: Uint8Array) => parseSource('pdf', bytes);

test('finds headings by size and paragraphs by distance, and joins hyphenated words', async () => {
  const document = await pdf(
    makePdf([
      [
        [24, 72, 700, 'A large title'],
        [16, 72, 660, 'A section'],
        [10, 72, 640, 'The first paragraph has a word that was di-'],
        [10, 72, 628, 'vided at the end of its line and goes'],
        [10, 72, 616, 'on to a third one.'],
        [10, 72, 590, 'The second paragraph is short.'],
        [10, 72, 570, '\\225 An item'],
        [10, 72, 558, '\\225 Another'],
      ],
      [[10, 72, 700, 'The second page.']],
    ]),
  );
  expect(blocksOf(document)).toEqual([
    ['heading', 1, 'A large title'],
    ['heading', 2, 'A section'],
    [
      'paragraph',
      0,
      'The first paragraph has a word that was divided at the end of its line and goes on to a third one.',
    ],
    ['paragraph', 0, 'The second paragraph is short.'],
    ['item', 1, '- An item'],
    ['item', 1, '- Another'],
    ['paragraph', 0, 'The second page.'],
  ]);
  expect(document.title).toBe('A large title');
});

test('joins the text items of a line with the spaces between them', async () => {
  const { text } = await pdf(
    makePdf([
      [
        [10, 72, 700, 'One'],
        [10, 100, 700, 'line'],
        [10, 72, 688, 'and the next'],
      ],
    ]),
  );
  expect(text).toBe('One line and the next');
});

test('reads title and author, except a title that is a file name', async () => {
  const lines: PdfLine[][] = [[[10, 72, 700, 'Text']]];
  const named = await pdf(makePdf(lines, { info: '/Title (A real title) /Author (Ada)' }));
  expect(named.title).toBe('A real title');
  expect(named.metadata).toEqual({ title: 'A real title', author: 'Ada' });
  const unnamed = await pdf(makePdf(lines, { info: '/Title (Microsoft Word - draft.docx)' }));
  expect(unnamed.title).toBeNull();
});

test('removes repeated headers and page numbers', async () => {
  const pages = Array.from({ length: 5 }, (_, index): PdfLine[] => [
    [10, 72, 760, `The manual, chapter ${index + 1}`],
    [10, 72, 700, `Page text ${index + 1} is here.`],
    [10, 72, 680, 'Every page says this in its middle.'],
    [10, 72, 660, `Closing words ${index + 1}.`],
    [10, 300, 30, `${index + 1}`],
  ]);
  const { text } = await pdf(makePdf(pages));
  expect(text).not.toContain('chapter');
  expect(text).not.toMatch(/^\d$/m);
  expect(text.match(/Every page/g)).toHaveLength(5);
});

test('rejects an encrypted PDF with a hint', async () => {
  const password = '0'.repeat(64);
  const trailer = `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${password}> /U <${password}> /P -4 >> /ID [<00> <00>]`;
  await expect(pdf(makePdf([[[10, 72, 700, 'Secret']]], { trailer }))).rejects.toMatchObject({
    kind: 'invalid_input',
    message: '/docs/page.pdf is encrypted',
    hint: expect.stringContaining('qpdf'),
  });
});

test('rejects a damaged PDF and one without text', async () => {
  await expect(pdf(Buffer.from('%PDF-1.4 and then nothing'))).rejects.toMatchObject({
    kind: 'invalid_input',
  });
  await expect(pdf(Buffer.from('no PDF at all'))).rejects.toMatchObject({ kind: 'invalid_input' });
  await expect(pdf(makePdf([[]]))).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining('has no text'),
  });
});
