import { visibleText } from '../domain/visible-text.ts';
import type { Terminal } from './terminal.ts';

/** Rows in aligned columns under dim headings. On a terminal the last column is cut where the line ends. */
export function table(
  terminal: Terminal,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const cells = rows.map((row) => row.map((cell) => visibleText(cell).replace(/\s+/g, ' ')));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  const fitting = (row: string) => (terminal.interactive ? oneLineWithin(row, terminal.width) : row);
  return `${[terminal.text(line(headings), 'dim'), ...cells.map((row) => fitting(line(row)))].join('\n')}\n`;
}

function oneLineWithin(row: string, width: number): string {
  return row.length <= width ? row : `${row.slice(0, width - 1)}…`;
}
