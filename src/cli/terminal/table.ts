import { cutToWidth, displayWidth, padToWidth } from '../../text/display-width.ts';
import { visibleText } from '../../text/visible-text.ts';
import type { Terminal } from './terminal.ts';

/** Rows in aligned columns under dim headings. On a terminal the last column is cut where the line ends. */
export function table(
  terminal: Terminal,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const cells = rows.map((row) => row.map((cell) => visibleText(cell).replace(/\s+/g, ' ')));
  const widths = headings.map((heading, column) =>
    Math.max(displayWidth(heading), ...cells.map((row) => displayWidth(row[column] ?? ''))),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : padToWidth(cell, widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  const fitting = (row: string) => (terminal.interactive ? cutToWidth(row, terminal.width) : row);
  return `${[terminal.text(line(headings), 'dim'), ...cells.map((row) => fitting(line(row)))].join('\n')}\n`;
}
