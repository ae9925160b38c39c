import { setImmediate } from 'node:timers/promises';
import papaparse from 'papaparse';
import type { ParsedDocument } from '../../domain/document.ts';
import type { Location } from '../../domain/location.ts';
import { type BlockWriter, createBlockWriter } from './block-writer.ts';
import { tableLine } from './render-tree.ts';

const DELIMITERS = [',', ';', '\t', '|'];

/** Values separated by commas, semicolons, tabs or bars: whichever fits best. What is malformed is read as well as it can be. */
export async function parseCsv(source: string): Promise<ParsedDocument> {
  // Blank lines mislead the guess, and count as rows all the same.
  const { meta } = papaparse.parse(source, {
    preview: 20,
    skipEmptyLines: true,
    delimitersToGuess: DELIMITERS,
  });
  const { data } = papaparse.parse<string[]>(source, { delimiter: meta.delimiter });
  const writer = createBlockWriter();
  await writeRows(writer, data, { hasSeveralTables: false });
  return { title: null, metadata: {}, ...writer.finish() };
}

interface RowsOptions {
  /** A blank row may end a table, and a row of words after it head another. */
  hasSeveralTables: boolean;
}

/** How many rows stand below one header. */
const TABLE_ROWS = 200;

/** Past this many characters a row reads better field by field. */
const LONGEST_ROW = 400;

/**
 * Writes the rows of a sheet below their header, the first row with more than one cell; what stands above it is
 * a title. A table of long rows is written as records, with the header's names before the values.
 */
export async function writeRows(
  writer: BlockWriter,
  rows: readonly (readonly string[])[],
  { hasSeveralTables }: RowsOptions,
): Promise<void> {
  const cleaned = rows.map((row) => row.map((cell) => cell.replace(/\s+/g, ' ').trim()));
  const isTable = cleaned.some((row) => filled(row) > 1);
  const isRecords = averageLength(cleaned) > LONGEST_ROW;
  let header: string[] | null = null;
  let table: { from: number; rows: string[][] } | null = null;
  let afterBlank = false;

  const close = (): void => {
    if (header !== null && table !== null) writeTable(writer, header, table.rows, table.from);
    table = null;
  };

  for (const [index, row] of cleaned.entries()) {
    const number = index + 1;
    const cells = filled(row);
    const isHeader = hasSeveralTables && afterBlank && cells > 1 && !row.some((cell) => /\d/.test(cell));
    afterBlank = cells === 0;
    if (cells === 0) {
      close();
    } else if (header === null || isHeader) {
      close();
      if (cells > 1 || !isTable) {
        header = row;
        if (isLast(cleaned, index)) writer.write('paragraph', 0, row.join(' '), { location: at(number) });
      } else {
        writer.write('paragraph', 0, row.join(' ').trim(), { location: at(number) });
      }
    } else if (isRecords) {
      writer.write('paragraph', 0, record(header, row), { location: at(number) });
    } else {
      table ??= { from: number, rows: [] };
      table.rows.push(row);
      if (table.rows.length >= TABLE_ROWS) close();
    }
    if (number % 5_000 === 0) await setImmediate(); // A long sheet must not keep Ctrl-C waiting.
  }
  close();
}

function writeTable(writer: BlockWriter, header: string[], rows: string[][], from: number): void {
  const width = [header, ...rows].reduce((widest, row) => Math.max(widest, lastFilled(row)), 0);
  const line = (row: string[]): string =>
    tableLine(Array.from({ length: width }, (_, column) => (row[column] ?? '').replaceAll('|', '\\|')));
  const rule = tableLine(Array.from({ length: width }, () => '---'));
  const text = [line(header), rule, ...rows.map(line)].join('\n');
  writer.write('table', 0, text, { location: { unit: 'row', from, to: from + rows.length - 1 } });
}

function record(header: readonly string[], row: readonly string[]): string {
  return row
    .flatMap((cell, column) => {
      const name = header[column] ?? '';
      return cell === '' ? [] : [name === '' ? cell : `${name}: ${cell}`];
    })
    .join('\n');
}

function at(row: number): Location {
  return { unit: 'row', from: row, to: row };
}

function filled(row: readonly string[]): number {
  return row.filter((cell) => cell !== '').length;
}

function lastFilled(row: readonly string[]): number {
  return row.findLastIndex((cell) => cell !== '') + 1;
}

function isLast(rows: readonly (readonly string[])[], index: number): boolean {
  return rows.slice(index + 1, index + 2).every((row) => filled(row) === 0);
}

/** Of the rows below the first, which is the header or a title. */
function averageLength(rows: readonly (readonly string[])[]): number {
  const sample = rows.filter((row) => filled(row) > 0).slice(1, 1_000);
  const characters = sample.reduce(
    (sum, row) => sum + row.reduce((total, cell) => total + cell.length, 0),
    0,
  );
  return sample.length === 0 ? 0 : characters / sample.length;
}
