import type { ParsedDocument } from '../../../domain/document.ts';
import { createBlockWriter } from '../block-writer.ts';
import { writeTableRows } from '../csv.ts';
import { toParseError } from '../decode-text.ts';
import { openArchive, repackArchive } from './archive.ts';
import { readOfficeProperties } from './docx.ts';

/** An Excel workbook: a section per sheet with its rows as tables. */
export async function parseXlsx(bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  try {
    const archive = openArchive(bytes, name, (path) => /\.(xml|rels)$/i.test(path));
    const { default: readSheets } = await import('read-excel-file/universal');
    const writer = createBlockWriter();
    for (const { sheet, data } of await readSheets(repackArchive(archive).buffer)) {
      writer.write('heading', 2, sheet);
      const rows = data.map((row) => row.map(formatCell));
      await writeTableRows(writer, rows, { hasSeveralTables: true });
    }
    const metadata = readOfficeProperties(archive, name);
    return { title: metadata.title ?? null, metadata, ...writer.finish() };
  } catch (error) {
    const hint = 'Check that it opens in a spreadsheet program. Saving it there again often repairs it.';
    throw toParseError(name, 'an Excel workbook', error, hint);
  }
}

/** `unknown`, because the types of the library are wrong for dates. */
function formatCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (!(value instanceof Date)) return String(value);
  if (Number.isNaN(value.getTime())) return '';
  const iso = value.toISOString();
  return iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : iso.slice(0, 16).replace('T', ' ');
}
