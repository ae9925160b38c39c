import { expect, test } from 'vitest';
import { mediaTypeOfContentType, mediaTypeOfPath } from '../../../src/adapters/documents/media-type.ts';

test.each([
  ['README.md', 'markdown'],
  ['a/b.MARKDOWN', 'markdown'],
  ['page.mdx', 'mdx'],
  ['index.rst', 'rst'],
  ['x.htm', 'html'],
  ['x.html', 'html'],
  ['notes.txt', 'text'],
  ['notes.text', 'text'],
  ['paper.pdf', 'pdf'],
  ['paper.docx', 'docx'],
  ['book.epub', 'epub'],
  ['table.tsv', 'csv'],
  ['table.xlsx', 'xlsx'],
  ['a.ipynb', 'notebook'],
  ['a.adoc', 'asciidoc'],
  ['a.PY', 'code'],
  ['a.ps1', 'code'],
  ['deck.pptx', 'pptx'],
  ['letter.odt', 'odt'],
  ['openapi.yml', 'yaml'],
  ['package.json', 'yaml'],
  ['pyproject.toml', 'ini'],
  ['setup.cfg', 'ini'],
  ['package-lock.json', null],
  ['pnpm-lock.yaml', null],
  ['citeloop.config.json', null],
  ['run.tape.json', null],
  ['a.min.js', null],
  ['photo.png', null],
  ['Makefile', null],
  ['x.constructor', null],
])('the format of %s is %s', (path, expected) => {
  expect(mediaTypeOfPath(path)).toBe(expected);
});

test.each([
  ['text/html; charset=utf-8', 'html'],
  ['Application/XHTML+XML', 'html'],
  ['text/markdown', 'markdown'],
  ['text/plain;charset=us-ascii', 'text'],
  ['application/pdf', 'pdf'],
  ['image/png', null],
  ['', null],
  [null, null],
])('the content type %s is %s', (header, expected) => {
  expect(mediaTypeOfContentType(header)).toBe(expected);
});
