import { cutToWidth, displayWidth, padToWidth } from '../../text/display-width.ts';
import { visibleText } from '../../text/visible-text.ts';
import type { Terminal } from './terminal.ts';
import { wrap } from './wrapping.ts';

/** With less room than this for the last column a row takes several lines. */
const LEAST_LAST = 16;
const INDENT = '  ';

/**
 * Rows in aligned columns under dim headings. On a terminal the last column, which says most, is cut where the line
 * ends; on one that is too narrow for that it stands below the others.
 */
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
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + '  '.length, 0);
  const lastNeeds = Math.min(widths.at(-1) ?? 0, LEAST_LAST);
  if (terminal.interactive && before + lastNeeds > terminal.width) {
    return `${cells.flatMap((row) => stacked(headings, row, terminal.width)).join('\n')}\n`;
  }
  const fitting = (row: string) => (terminal.interactive ? cutToWidth(row, terminal.width) : row);
  const lines = [terminal.text(fitting(line(headings)), 'dim'), ...cells.map((row) => fitting(line(row)))];
  return `${lines.join('\n')}\n`;
}

/** A row as a few lines: what it is about, the other cells by their names, and below them what it says. */
function stacked(headings: readonly string[], row: readonly string[], width: number): string[] {
  const named = row
    .slice(0, -1)
    .flatMap((cell, column) =>
      cell === '' ? [] : [column === 0 ? cell : `${headings[column] ?? ''} ${cell}`],
    );
  return [
    ...wrap(named.join(', '), width),
    ...wrap(row.at(-1) ?? '', width - INDENT.length).map((line) => INDENT + line),
  ];
}
