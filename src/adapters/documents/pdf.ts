import type { ParsedDocument } from '../../domain/document.ts';
import { AppError } from '../../faults/app-error.ts';
import { cleanText } from './decode-text.ts';
import {
  dropHeadersAndFooters,
  joinTextItems,
  type PdfLine,
  type PdfTextItem,
  toPdfContent,
} from './pdf-layout.ts';
import { toParsedDocument } from './render-tree.ts';

type PdfDocument = Awaited<ReturnType<typeof import('unpdf')['getDocumentProxy']>>;

/** The text of a PDF by page. Throws `invalid_input` if it is encrypted, damaged or without text. */
export async function parsePdf(bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  const pdf = await openPdf(bytes, name);
  try {
    const content = toPdfContent(dropHeadersAndFooters(await readPages(pdf)));
    if (content.length === 0) {
      throw new AppError('invalid_input', `${name} has no text and may be a scan`, {
        hint: 'Run text recognition on it first, for example: ocrmypdf in.pdf out.pdf.',
      });
    }
    const metadata = await readMetadata(pdf);
    return toParsedDocument({ type: 'root', children: content }, metadata);
  } finally {
    await pdf.loadingTask.destroy();
  }
}

async function openPdf(bytes: Uint8Array, name: string): Promise<PdfDocument> {
  const { getDocumentProxy } = await import('unpdf');
  try {
    // unpdf takes ownership of the bytes.
    return await getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 });
  } catch (error) {
    if (!(error instanceof Error && error.name === 'PasswordException')) throw error;
    throw new AppError('invalid_input', `${name} is encrypted`, {
      hint: 'Save a copy without its password, for example: qpdf --password=... --decrypt in.pdf out.pdf.',
      cause: error,
    });
  }
}

async function readPages(pdf: PdfDocument): Promise<PdfLine[][]> {
  const pages: PdfLine[][] = [];
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    pages.push(joinTextItems(items.filter((item): item is typeof item & PdfTextItem => 'str' in item)));
    page.cleanup();
  }
  return pages;
}

/** The document properties, except a title that is only a file name. */
async function readMetadata(pdf: PdfDocument): Promise<Record<string, string>> {
  const { info } = await pdf.getMetadata();
  const properties = info as Record<string, unknown>;
  const fields = ['Title', 'Author', 'Subject', 'Keywords'].flatMap((field): [string, string][] => {
    const value = properties[field];
    const text = typeof value === 'string' ? cleanText(value).replace(/\s+/g, ' ').trim() : '';
    const isFileName =
      field === 'Title' &&
      /^(untitled.*|microsoft word\b.*|.*\.(docx?|tex|dvi|indd|pdf|odt|qxd|pptx?))$/i.test(text);
    return text === '' || isFileName ? [] : [[field.toLowerCase(), text]];
  });
  return Object.fromEntries(fields);
}
