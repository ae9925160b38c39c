import type { Table } from 'mdast';
import { renderLine } from './render-inline.ts';

/** A table as rows with pipes; empty if no cell has content. */
export function renderTable(table: Table): string {
  const rows = table.children.map((row) =>
    row.children.map((cell) => renderLine(cell.children).replaceAll('|', '\\|')),
  );
  // HTML knows tables without a head, which come with an empty one.
  while (rows[0]?.every((cell) => cell === '')) rows.shift();
  if (rows.length === 0) return '';

  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  const lines = rows.map((row) => tableLine(Array.from({ length: width }, (_, column) => row[column] ?? '')));
  lines.splice(1, 0, tableLine(Array.from({ length: width }, () => '---')));
  return lines.join('\n');
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
