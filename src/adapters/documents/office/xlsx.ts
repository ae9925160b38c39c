import type { ParsedDocument } from '../../../domain/document.ts';
import { createBlockWriter } from '../block-writer.ts';
import { writeTableRows } from '../csv.ts';
import { openArchive, repackArchive } from './archive.ts';
import { readOfficeProperties } from './docx.ts';

/** An Excel workbook: a section per sheet with its rows as tables. */
export async function parseXlsx(bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  const archive = openArchive(bytes, name, (path) => /\.(xml|rels)$/i.test(path));
  for (const [path, sheet] of Object.entries(archive))
    if (path.includes('/worksheets/')) assertSheetSize(new TextDecoder().decode(sheet));
  const { default: readSheets } = await import('read-excel-file/universal');
  const writer = createBlockWriter();
  for (const { sheet, data } of await readSheets(repackArchive(archive).buffer)) {
    writer.write('heading', 2, sheet);
    const rows = data.map((row) => row.map(formatCell));
    writeTableRows(writer, rows, { hasSeveralTables: true });
  }
  const metadata = readOfficeProperties(archive, name);
  return { title: metadata.title ?? null, metadata, ...writer.finish() };
}

/** The library creates all cells up to the last row and column. */
const MAX_CELLS = 10_000_000;

function assertSheetSize(xml: string): void {
  let [rows, columns] = [0, 0];
  for (const [, letters = '', row] of xml.matchAll(/\br="([A-Z]+)(\d+)"/g)) {
    const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
    [rows, columns] = [Math.max(rows, Number(row)), Math.max(columns, column)];
  }
  if (rows * columns > MAX_CELLS) throw new Error(`a sheet has ${rows} rows and ${columns} columns`);
}

/** `unknown`, because the types of the library are wrong for dates. */
function formatCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (!(value instanceof Date)) return String(value);
  if (Number.isNaN(value.getTime())) return '';
  const iso = value.toISOString();
  return iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : iso.slice(0, 16).replace('T', ' ');
}
