import type { ParsedDocument } from '../../../domain/document.ts';
import { createBlockWriter } from '../block-writer.ts';
import { writeRows } from '../csv.ts';
import { brokenDocument } from '../decode-text.ts';
import { openArchive, packPlainly } from './archive.ts';
import { readProperties } from './docx.ts';

/** An Excel workbook: a section for each sheet, its rows as tables below their header. */
export async function parseXlsx(bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  try {
    const archive = openArchive(bytes, name, (path) => /\.(xml|rels)$/i.test(path));
    const { default: readSheets } = await import('read-excel-file/universal');
    const writer = createBlockWriter();
    for (const { sheet, data } of await readSheets(packPlainly(archive).buffer)) {
      writer.write('heading', 2, sheet);
      const rows = data.map((row) => row.map(cellText));
      await writeRows(writer, rows, { hasSeveralTables: true });
    }
    const metadata = readProperties(archive, name);
    return { title: metadata.title ?? null, metadata, ...writer.finish() };
  } catch (error) {
    const hint = 'Check that it opens in a spreadsheet program; saving it again there often repairs it.';
    throw brokenDocument(name, 'an Excel workbook', error, hint);
  }
}

/** The library declares dates as the class of dates, not as dates. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (!(value instanceof Date)) return String(value);
  if (Number.isNaN(value.getTime())) return '';
  const iso = value.toISOString();
  return iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : iso.slice(0, 16).replace('T', ' ');
}
