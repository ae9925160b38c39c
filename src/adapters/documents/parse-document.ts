import { AppError } from '../../domain/app-error.ts';
import type { ParsedDocument, RawDocument } from '../../domain/document.ts';
import type { DocumentParser } from '../../ports/loader.ts';
import { decodeText } from './decode-text.ts';
import { documentName } from './document-name.ts';

/** Reads every format we know. Each format's parser is loaded when its first document comes. */
export function createDocumentParser(): DocumentParser {
  return async (document) => {
    const name = documentName(document.uri);
    try {
      return await parse(document, name);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new AppError('invalid_input', `${name} is nested too deeply to be read`, {
        hint: 'Simplify the document, or leave it out.',
        cause: error,
      });
    }
  };
}

async function parse({ mediaType, bytes }: RawDocument, name: string): Promise<ParsedDocument> {
  switch (mediaType) {
    case 'markdown':
      return (await import('./markdown.ts')).parseMarkdown(decodeText(bytes, name));
    case 'mdx':
      return (await import('./mdx.ts')).parseMdx(decodeText(bytes, name));
    case 'rst':
      return (await import('./rst/rst.ts')).parseRst(decodeText(bytes, name));
    case 'html':
      return (await import('./html.ts')).parseHtml(bytes, name);
    case 'text':
      return (await import('./plain-text.ts')).parsePlainText(decodeText(bytes, name));
    case 'pdf':
      return (await import('./pdf/pdf.ts')).parsePdf(bytes, name);
  }
}
