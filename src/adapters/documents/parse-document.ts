import { fileURLToPath } from 'node:url';
import type { MediaType, ParsedDocument, RawDocument } from '../../domain/document.ts';
import { lineRange } from '../../domain/location.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import type { DocumentParser } from '../../ports/document-source.ts';
import { createBlockWriter } from './block-writer.ts';
import type { LoadedGrammars } from './code/find-definitions.ts';
import { decodeText } from './decode-text.ts';

/** Parses all supported formats. The parser of a format is loaded for its first document. */
export function createDocumentParser(): DocumentParser {
  const grammars: LoadedGrammars = new Map();
  return async (document) => {
    const name = documentName(document.uri);
    try {
      return await parse(document, name, grammars);
    } catch (error) {
      throw toParseError(error, name, document.mediaType);
    }
  };
}

/** The formats whose parsers throw errors about a damaged file, and what to do about one. */
const REPAIRS: Partial<Record<MediaType, readonly [format: string, hint: string]>> = {
  asciidoc: ['AsciiDoc', 'Check that Asciidoctor can convert it.'],
  pdf: ['a PDF', repairIn('a PDF viewer')],
  docx: ['a Word document', repairIn('a word processor')],
  odt: ['an OpenDocument text', repairIn('a word processor')],
  pptx: ['a PowerPoint presentation', repairIn('a presentation program')],
  xlsx: ['an Excel workbook', repairIn('a spreadsheet program')],
  epub: ['an EPUB', 'Check that it opens in an e-book reader. Converting it to EPUB again often repairs it.'],
  notebook: ['a notebook', 'Open it in Jupyter and save it again.'],
  yaml: ['YAML or JSON', 'Correct it or exclude it.'],
};

function repairIn(program: string): string {
  return `Check that it opens in ${program}. Saving it there again often repairs it.`;
}

function toParseError(cause: unknown, name: string, mediaType: MediaType): unknown {
  if (cause instanceof AppError) return cause;
  if (cause instanceof RangeError) {
    const fault = /^Invalid .* length/.test(cause.message) ? 'too large to parse' : 'nested too deeply';
    const hint = 'Simplify the document or exclude it.';
    return new AppError('invalid_input', `${name} is ${fault}`, { hint, cause });
  }
  const [format, hint] = REPAIRS[mediaType] ?? [];
  if (format === undefined) return cause;
  const reason = messageOf(cause).split('\n', 1)[0]?.trim() ?? '';
  return new AppError('invalid_input', `${name} cannot be read as ${format}: ${reason}`, { hint, cause });
}

async function parse(
  { mediaType, bytes, included }: RawDocument,
  name: string,
  grammars: LoadedGrammars,
): Promise<ParsedDocument> {
  switch (mediaType) {
    case 'markdown':
      return (await import('./markdown.ts')).parseMarkdown(decodeText(bytes, name), included);
    case 'mdx':
      return (await import('./mdx.ts')).parseMdx(decodeText(bytes, name));
    case 'rst':
      return (await import('./rst/rst.ts')).parseRst(decodeText(bytes, name), included);
    case 'asciidoc':
      return (await import('./asciidoc.ts')).parseAsciidoc(decodeText(bytes, name));
    case 'html':
      return (await import('./html.ts')).parseHtml(bytes, name);
    case 'text':
      return parsePlainText(decodeText(bytes, name));
    case 'pdf':
      return (await import('./pdf.ts')).parsePdf(bytes, name);
    case 'docx':
      return (await import('./office/docx.ts')).parseDocx(bytes, name);
    case 'odt':
      return (await import('./office/odt.ts')).parseOdt(bytes, name);
    case 'pptx':
      return (await import('./office/pptx.ts')).parsePptx(bytes, name);
    case 'epub':
      return (await import('./office/epub.ts')).parseEpub(bytes, name);
    case 'csv':
      return (await import('./csv.ts')).parseCsv(decodeText(bytes, name));
    case 'xlsx':
      return (await import('./office/xlsx.ts')).parseXlsx(bytes, name);
    case 'notebook':
      return (await import('./notebook.ts')).parseNotebook(decodeText(bytes, name));
    case 'yaml':
      return (await import('./key-values.ts')).parseYaml(decodeText(bytes, name));
    case 'ini':
      return (await import('./key-values.ts')).parseIni(decodeText(bytes, name));
    case 'code':
      return (await import('./code/source-code.ts')).parseSourceCode(decodeText(bytes, name), name, grammars);
  }
}

/** The path of a file or the URL of a page, for messages. */
export function documentName(uri: string): string {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : uri;
  } catch {
    return uri;
  }
}

/** Plain text: paragraphs separated by blank lines, without headings. */
function parsePlainText(source: string): ParsedDocument {
  const writer = createBlockWriter();
  let number = 1;
  for (const [index, part] of source.split(/(\n(?:[^\S\n]*\n)+)/).entries()) {
    const rows = part.split('\n');
    const last = number + rows.length - 1;
    // Odd parts are the blank lines between paragraphs.
    if (index % 2 === 0) {
      const location = lineRange(number + rows.findIndex((row) => row.trim() !== ''), last);
      writer.write('paragraph', 0, rows.map((row) => row.trimEnd()).join('\n'), { location });
    }
    number = last;
  }
  return { title: null, metadata: {}, ...writer.finish() };
}
