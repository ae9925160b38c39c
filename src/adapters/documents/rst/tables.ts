import type { TableCell, TableRow } from 'mdast';
import { type Context, type Flow, isBlank, type Reader } from './blocks.ts';

/** A table drawn with `+---+` borders. Cells that span are written once, where they begin. */
export const readGridTable: Reader = (lines, index, context) => {
  if (!/^\+[-=]+(\+[-=]+)*\+\s*$/.test(lines[index] ?? '')) return null;
  let next = index;
  while (/^[+|]/.test(lines[next] ?? '')) next += 1;
  const drawn = lines.slice(index, next);
  const columns = columnsOf(
    drawn.filter(isGridBorder).map((line) => [...line.matchAll(/\+/g)].map((plus) => plus.index)),
  );
  const rows: string[][] = [];
  let isNewRow = true;
  for (const line of drawn) {
    if (isGridBorder(line)) {
      // A border across some columns only still has the text of a cell that goes on beside it.
      isNewRow = true;
      const rest = line.replace(/\+[-=+]*\+/g, (border) => ' '.repeat(border.length));
      if (!/[^\s|]/.test(rest)) continue;
    }
    addLine(rows, cutAtBars(line, columns), isNewRow);
    isNewRow = false;
  }
  return { nodes: [table(rows, context)], next };
};

/** A table with `==== ====` borders; a line without text in its first column goes on with the row above. */
export const readSimpleTable: Reader = (lines, index, context) => {
  const border = /^=+( +=+)+\s*$/;
  if (!border.test(lines[index] ?? '')) return null;
  const end = lines.findIndex((line, at) => at > index && border.test(line) && isBlank(lines[at + 1]));
  if (end === -1) return null;
  const starts = [...(lines[index] ?? '').matchAll(/=+/g)].map((run) => run.index);
  const rows: string[][] = [];
  for (const line of lines.slice(index + 1, end)) {
    if (isBlank(line) || border.test(line) || /^-+( +-+)*\s*$/.test(line)) continue;
    const cells = cutAtSpaces(line, starts);
    addLine(rows, cells, cells[0] !== '' || rows.length === 0);
  }
  return { nodes: [table(rows, context)], next: end + 1 };
};

export function table(rows: readonly (readonly string[])[], context: Context): Flow {
  const cell = (text: string): TableCell => ({ type: 'tableCell', children: context.inline(text) });
  const children = rows.map((row): TableRow => ({ type: 'tableRow', children: row.map(cell) }));
  return { type: 'table', children };
}

function isGridBorder(line: string): boolean {
  return /^[+|].*\+[-=]+\+/.test(line) || /^\+[-=]+\+/.test(line);
}

function columnsOf(positions: number[][]): number[] {
  return [...new Set(positions.flat())].sort((left, right) => left - right);
}

/** Adds the text of one line to the last row, or begins a row with it. */
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

/** Cuts a line at the columns where it has a bar; without one the cell goes on. */
function cutAtBars(line: string, columns: readonly number[]): string[] {
  return cut(line, columns.slice(0, -1), (start) => /[|+]/.test(line.charAt(start))).map((text) =>
    text
      .replace(/^[|+]|[|+]\s*$/g, '')
      .replace(/^[-=+]+$/, '')
      .trim(),
  );
}

function cutAtSpaces(line: string, starts: readonly number[]): string[] {
  return cut(line, starts, (start) => start === 0 || isBlank(line.charAt(start - 1))).map((text) =>
    text.trim(),
  );
}

/** One part of the line for each start; where a part may not begin there, the one before it goes on. */
function cut(line: string, starts: readonly number[], mayBegin: (start: number) => boolean): string[] {
  const parts = starts.map(() => '');
  let current = 0;
  starts.forEach((start, column) => {
    if (column > 0 && mayBegin(start)) current = column;
    const end = starts[column + 1] ?? line.length;
    parts[current] += line.slice(column === 0 ? 0 : start, end);
  });
  return parts;
}
