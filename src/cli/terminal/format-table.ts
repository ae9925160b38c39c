import { cutToWidth, displayWidth } from '../../text/display-width.ts';
import { visibleText } from '../../text/visible-text.ts';
import { type Terminal, wrapWidth } from './terminal.ts';
import { type TextRun, visibleWidth, wrapRuns } from './wrap-text.ts';

const GAP = '  ';

type Align = 'left' | 'right' | 'center' | null;

interface TableLayout {
  width: number;
  align?: readonly Align[];
  /** No column gets narrower than this. */
  minWidth: number;
  /** Cuts long cells; otherwise they are wrapped. */
  cut?: boolean;
  /** Paints the line under the headings; there is none unless given. */
  paintRule?: (line: string) => string;
}

/** Rows under dim headings; long cells are cut at the width of the terminal. */
export function formatTable(
  terminal: Terminal,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const dim = (text: string) => terminal.text(text, 'dim');
  const cells = rows.map((row) => row.map((cell) => [{ text: visibleText(cell).replace(/\s+/g, ' ') }]));
  const heading = headings.map((text) => [{ text, paint: dim }]);
  const lines = layoutTable([heading, ...cells], { width: wrapWidth(terminal), minWidth: 16, cut: true });
  return `${lines.join('\n')}\n`;
}

/**
 * The lines of a table; the first row holds the headings. Where the columns do not fit, the widest are narrowed, and
 * below the minimum each row becomes a list of `heading: cell`.
 */
export function layoutTable(rows: readonly TextRun[][][], layout: TableLayout): string[] {
  const columns = Math.max(...rows.map((row) => row.length));
  const natural = Array.from({ length: columns }, (_, column) =>
    Math.max(1, ...rows.map((row) => displayWidth((row[column] ?? []).map(({ text }) => text).join('')))),
  );
  const widths = fitWidths(natural, layout.width - GAP.length * (columns - 1), layout.minWidth);
  return widths === null ? recordLines(rows, layout) : gridLines(rows, widths, layout);
}

function fitWidths(natural: readonly number[], width: number, minWidth: number): number[] | null {
  const widths = [...natural];
  let total = widths.reduce((sum, each) => sum + each, 0);
  while (total > width) {
    const widest = Math.max(...widths);
    if (widest <= minWidth) return null;
    widths[widths.indexOf(widest)] = widest - 1;
    total -= 1;
  }
  return widths;
}

function gridLines(
  rows: readonly TextRun[][][],
  widths: readonly number[],
  { align = [], cut = false, paintRule }: TableLayout,
): string[] {
  return rows.flatMap((row, index) => {
    const cells = widths.map((width, column) => cellLines(row[column] ?? [], width, cut));
    const height = Math.max(1, ...cells.map((cell) => cell.length));
    const lines = Array.from({ length: height }, (_, line) =>
      widths
        .map((width, column) => pad(cells[column]?.[line] ?? '', width, align[column] ?? null))
        .join(GAP)
        .trimEnd(),
    );
    if (index > 0 || paintRule === undefined) return lines;
    return [...lines, paintRule(widths.map((width) => '─'.repeat(width)).join(GAP))];
  });
}

function cellLines(cell: readonly TextRun[], width: number, cut: boolean): string[] {
  if (!cut) return wrapRuns(cell, width, { breakWords: true, paintWords: true });
  return cell.map(({ text, paint = (part) => part }) => paint(cutToWidth(text, width)));
}

function pad(text: string, width: number, align: Align): string {
  const space = Math.max(0, width - visibleWidth(text));
  const before = align === 'right' ? space : align === 'center' ? Math.floor(space / 2) : 0;
  return ' '.repeat(before) + text + ' '.repeat(space - before);
}

function recordLines([headings = [], ...rows]: readonly TextRun[][][], { width }: TableLayout): string[] {
  return rows.flatMap((row, index) => [
    ...(index > 0 ? [''] : []),
    ...row.flatMap((cell, column) => {
      const [name] = headings[column] ?? [];
      const runs =
        name === undefined ? cell : [...(headings[column] ?? []), { ...name, text: ': ' }, ...cell];
      return wrapRuns(runs, width, { paintWords: true });
    }),
  ]);
}
