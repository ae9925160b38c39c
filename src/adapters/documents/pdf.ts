import type { ParsedDocument } from '../../domain/document.ts';
import { AppError } from '../../faults/app-error.ts';
import { brokenDocument, cleanText } from './decode-text.ts';
import { dropRunningLines, type Line, type TextItem, toContent, toLines } from './pdf-layout.ts';
import { toDocument } from './render-tree.ts';

type PdfDocument = Awaited<ReturnType<typeof import('unpdf')['getDocumentProxy']>>;

/** A PDF's text, page after page. Throws `invalid_input` if it is encrypted, broken, or holds no text. */
export async function parsePdf(bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  const pdf = await open(bytes, name);
  try {
    const content = toContent(dropRunningLines(await readPages(pdf)));
    if (content.length === 0) {
      throw new AppError('invalid_input', `${name} holds no text; it may be a scan`, {
        hint: 'Run text recognition on it first, for example: ocrmypdf in.pdf out.pdf.',
      });
    }
    const metadata = await readMetadata(pdf);
    return toDocument({ type: 'root', children: content }, metadata);
  } catch (error) {
    throw broken(name, error);
  } finally {
    await pdf.loadingTask.destroy();
  }
}

async function open(bytes: Uint8Array, name: string): Promise<PdfDocument> {
  const { getDocumentProxy } = await import('unpdf');
  try {
    // The library keeps the bytes it is given, so it gets its own.
    return await getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 });
  } catch (error) {
    if (!(error instanceof Error && error.name === 'PasswordException')) throw broken(name, error);
    throw new AppError('invalid_input', `${name} is encrypted`, {
      hint: 'Save a copy without its password, for example: qpdf --password=... --decrypt in.pdf out.pdf.',
      cause: error,
    });
  }
}

function broken(name: string, cause: unknown): Error {
  const hint = 'Check that it opens in a PDF viewer; saving it again there often repairs it.';
  return brokenDocument(name, 'a PDF', cause, hint);
}

async function readPages(pdf: PdfDocument): Promise<Line[][]> {
  const pages: Line[][] = [];
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    pages.push(toLines(items.filter((item): item is typeof item & TextItem => 'str' in item)));
    page.cleanup();
  }
  return pages;
}

/** The document's own properties; a title that is only the name of a file tells nothing. */
async function readMetadata(pdf: PdfDocument): Promise<Record<string, string>> {
  const { info } = await pdf.getMetadata();
  const properties = info as Record<string, unknown>;
  const fields = ['Title', 'Author', 'Subject', 'Keywords'].flatMap((field): [string, string][] => {
    const value = properties[field];
    const text = typeof value === 'string' ? cleanText(value).replace(/\s+/g, ' ').trim() : '';
    const isName =
      field === 'Title' &&
      /^(untitled.*|microsoft word\b.*|.*\.(docx?|tex|dvi|indd|pdf|odt|qxd|pptx?))$/i.test(text);
    return text === '' || isName ? [] : [[field.toLowerCase(), text]];
  });
  return Object.fromEntries(fields);
}
