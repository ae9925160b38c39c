import { visibleText } from '../domain/visible-text.ts';
import type { Terminal } from './terminal.ts';

/** Rows in aligned columns under dim headings. */
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
  return `${[terminal.text(line(headings), 'dim'), ...cells.map(line)].join('\n')}\n`;
}
