import type { TableCell, TableRow } from 'mdast';
import { type FlowNode, isBlankLine, type RstContext, type RstReader } from './blocks.ts';

/** A table with `+---+` borders. A spanning cell is in its first column only. */
export const readGridTable: RstReader = (lines, index, context) => {
  if (!/^\+[-=]+(\+[-=]+)*\+\s*$/.test(lines[index] ?? '')) return null;
  let next = index;
  while (/^[+|]/.test(lines[next] ?? '')) next += 1;
  const drawn = lines.slice(index, next);
  const corners = drawn.filter(isGridBorder).flatMap((line) => [...line.matchAll(/\+/g)]);
  const columns = [...new Set(corners.map((plus) => plus.index))].sort((left, right) => left - right);
  const rows: string[][] = [];
  let isNewRow = true;
  for (const line of drawn) {
    if (isGridBorder(line)) {
      // A border across some columns may have the text of a spanning cell beside it.
      isNewRow = true;
      const rest = line.replace(/\+[-=+]*\+/g, (border) => ' '.repeat(border.length));
      if (!/[^\s|]/.test(rest)) continue;
    }
    addLine(rows, splitAtBars(line, columns), isNewRow);
    isNewRow = false;
  }
  return { nodes: [createTable(rows, context)], next };
};

/** A table with `==== ====` borders. A line with an empty first column continues the row above. */
export const readSimpleTable: RstReader = (lines, index, context) => {
  const border = /^=+( +=+)+\s*$/;
  if (!border.test(lines[index] ?? '')) return null;
  const end = lines.findIndex((line, at) => at > index && border.test(line) && isBlankLine(lines[at + 1]));
  if (end === -1) return null;
  const starts = [...(lines[index] ?? '').matchAll(/=+/g)].map((run) => run.index);
  const rows: string[][] = [];
  for (const line of lines.slice(index + 1, end)) {
    if (isBlankLine(line) || border.test(line) || /^-+( +-+)*\s*$/.test(line)) continue;
    const mayBegin = (start: number) => start === 0 || isBlankLine(line.charAt(start - 1));
    const cells = splitAt(line, starts, mayBegin).map((text) => text.trim());
    addLine(rows, cells, cells[0] !== '' || rows.length === 0);
  }
  return { nodes: [createTable(rows, context)], next: end + 1 };
};

export function createTable(
  rows: readonly (readonly string[])[],
  { inline }: Pick<RstContext, 'inline'>,
): FlowNode {
  const cell = (text: string): TableCell => ({ type: 'tableCell', children: inline(text) });
  const children = rows.map((row): TableRow => ({ type: 'tableRow', children: row.map(cell) }));
  return { type: 'table', children };
}

function isGridBorder(line: string): boolean {
  return /^[+|].*\+[-=]+\+/.test(line) || /^\+[-=]+\+/.test(line);
}

/** Adds a line to the last row, or starts a new row. */
function addLine(rows: string[][], cells: string[], isNewRow: boolean): void {
  const last = rows.at(-1);
  if (isNewRow || last === undefined) {
    rows.push(cells);
    return;
  }
  cells.forEach((text, column) => {
    last[column] = [last[column] ?? '', text].filter((part) => part !== '').join('\n');
  });
}

/** Splits a line at the columns that have a bar; without a bar the cell continues. */
function splitAtBars(line: string, columns: readonly number[]): string[] {
  const cells = splitAt(line, columns.slice(0, -1), (start) => /[|+]/.test(line.charAt(start)));
  return cells.map((text) =>
    text
      .replace(/^[|+]|[|+]\s*$/g, '')
      .replace(/^[-=+]+$/, '')
      .trim(),
  );
}

/** Splits a line at `starts`; where `mayBegin` is false the cell before continues. */
function splitAt(line: string, starts: readonly number[], mayBegin: (start: number) => boolean): string[] {
  const parts = starts.map(() => '');
  let current = 0;
  starts.forEach((start, column) => {
    if (column > 0 && mayBegin(start)) current = column;
    const end = starts[column + 1] ?? line.length;
    parts[current] += line.slice(column === 0 ? 0 : start, end);
  });
  return parts;
}
