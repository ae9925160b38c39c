import papaparse from 'papaparse';
import type { ParsedDocument } from '../../domain/document.ts';
import type { SourceLocation } from '../../domain/location.ts';
import { type BlockWriter, createBlockWriter } from './block-writer.ts';
import { formatTextTable } from './render-tree.ts';

const DELIMITERS = [',', ';', '\t', '|'];

/** Values separated by commas, semicolons, tabs or bars. Malformed rows are kept as far as possible. */
export function parseCsv(source: string): ParsedDocument {
  // Blank lines mislead the detection of the delimiter, but count as rows.
  const { meta } = papaparse.parse(source, {
    preview: 20,
    skipEmptyLines: true,
    delimitersToGuess: DELIMITERS,
  });
  const { data } = papaparse.parse<string[]>(source, { delimiter: meta.delimiter });
  const writer = createBlockWriter();
  writeTableRows(writer, data, { hasSeveralTables: false });
  return { title: null, metadata: {}, ...writer.finish() };
}

/** Longer tables are split, each part with the header. */
const MAX_TABLE_ROWS = 200;

/** Longer rows are written as records. */
const MAX_ROW_LENGTH = 400;

/**
 * Writes the rows of a sheet as tables. The header is the first row with more than one cell; rows above it are titles.
 * Tables with long rows are written as records of `name: value`. With `hasSeveralTables`, a row of words after a blank
 * row is a new header.
 */
export function writeTableRows(
  writer: BlockWriter,
  rows: readonly (readonly string[])[],
  { hasSeveralTables }: { hasSeveralTables: boolean },
): void {
  const cleaned = rows.map((row) => row.map((cell) => cell.replace(/\s+/g, ' ').trim()));
  const isTable = cleaned.some((row) => countFilled(row) > 1);
  const isRecords = averageLength(cleaned) > MAX_ROW_LENGTH;
  let header: string[] | null = null;
  let table: { from: number; rows: string[][] } | null = null;
  let afterBlank = false;

  const closeTable = (): void => {
    if (header !== null && table !== null) writeTable(writer, header, table.rows, table.from);
    table = null;
  };

  for (const [index, row] of cleaned.entries()) {
    const number = index + 1;
    const cells = countFilled(row);
    const isHeader = hasSeveralTables && afterBlank && cells > 1 && !row.some((cell) => /\d/.test(cell));
    afterBlank = cells === 0;
    if (cells === 0) {
      closeTable();
    } else if (header === null || isHeader) {
      closeTable();
      const isTitle = cells === 1 && isTable;
      if (!isTitle) header = row;
      if (isTitle || countFilled(cleaned[index + 1] ?? []) === 0)
        writer.write('paragraph', 0, row.join(' '), { location: rowLocation(number) });
    } else if (isRecords) {
      writer.write('paragraph', 0, formatRecord(header, row), { location: rowLocation(number) });
    } else {
      table ??= { from: number, rows: [] };
      table.rows.push(row);
      if (table.rows.length >= MAX_TABLE_ROWS) closeTable();
    }
  }
  closeTable();
}

function writeTable(writer: BlockWriter, header: string[], rows: string[][], from: number): void {
  const trimmed = [header, ...rows].map((row) => row.slice(0, row.findLastIndex((cell) => cell !== '') + 1));
  const location: SourceLocation = { unit: 'row', from, to: from + rows.length - 1 };
  writer.write('table', 0, formatTextTable(trimmed), { location });
}

function formatRecord(header: readonly string[], row: readonly string[]): string {
  return row
    .flatMap((cell, column) => {
      const name = header[column] ?? '';
      return cell === '' ? [] : [name === '' ? cell : `${name}: ${cell}`];
    })
    .join('\n');
}

function rowLocation(row: number): SourceLocation {
  return { unit: 'row', from: row, to: row };
}

function countFilled(row: readonly string[]): number {
  return row.filter((cell) => cell !== '').length;
}

/** The average length of the rows below the header. */
function averageLength(rows: readonly (readonly string[])[]): number {
  const sample = rows.filter((row) => countFilled(row) > 0).slice(1, 1_000);
  const characters = sample.reduce((sum, row) => sum + row.join('').length, 0);
  return sample.length === 0 ? 0 : characters / sample.length;
}
