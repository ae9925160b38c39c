import { displayWidth } from '../../text/display-width.ts';
import { flowRuns, type Look, type Run, visibleWidth } from './wrapping.ts';

const GAP = '  ';
/** Narrower columns are not read any more. */
const LEAST = 8;

type Align = 'left' | 'right' | 'center' | null;

/**
 * The lines of a table whose first row is its heading: columns side by side where they fit, with long cells broken;
 * else each row as a list of what stands under which heading.
 */
export function layTable(rows: readonly Run[][][], align: readonly Align[], look: Look): string[] {
  const columns = Math.max(...rows.map((row) => row.length));
  const natural = Array.from({ length: columns }, (_, column) =>
    Math.max(1, ...rows.map((row) => displayWidth(textOf(row[column] ?? [])))),
  );
  const widths = fitted(natural, look.width - GAP.length * (columns - 1));
  return widths === null ? asRecords(rows, look) : sideBySide(rows, widths, align, look);
}

/** The widest column gives way first; null if not even the least widths fit. */
function fitted(natural: readonly number[], width: number): number[] | null {
  const widths = [...natural];
  let total = widths.reduce((sum, each) => sum + each, 0);
  while (total > width) {
    const widest = Math.max(...widths);
    if (widest <= LEAST) return null;
    widths[widths.indexOf(widest)] = widest - 1;
    total -= 1;
  }
  return widths;
}

function sideBySide(
  rows: readonly Run[][][],
  widths: readonly number[],
  align: readonly Align[],
  { terminal }: Look,
): string[] {
  const lines = rows.flatMap((row, index) => {
    const cells = widths.map((width, column) => flowRuns(row[column] ?? [], width, { breakWords: true }));
    const height = Math.max(1, ...cells.map((cell) => cell.length));
    const laid = Array.from({ length: height }, (_, line) =>
      widths
        .map((width, column) => padded(cells[column]?.[line] ?? '', width, align[column] ?? null))
        .join(GAP)
        .trimEnd(),
    );
    if (index > 0) return laid;
    return [...laid, terminal.text(widths.map((width) => '─'.repeat(width)).join(GAP), 'dim')];
  });
  return lines;
}

function padded(text: string, width: number, align: Align): string {
  const room = Math.max(0, width - visibleWidth(text));
  const before = align === 'right' ? room : align === 'center' ? Math.floor(room / 2) : 0;
  return ' '.repeat(before) + text + ' '.repeat(room - before);
}

function asRecords([heading = [], ...rows]: readonly Run[][][], { width }: Look): string[] {
  return rows.flatMap((row, index) => [
    ...(index > 0 ? [''] : []),
    ...row.flatMap((cell, column) => {
      const name = heading[column] ?? [];
      const [colon] = name;
      return flowRuns(colon === undefined ? cell : [...name, { ...colon, text: ': ' }, ...cell], width);
    }),
  ]);
}

function textOf(runs: readonly Run[]): string {
  return runs.map(({ text }) => text).join('');
}
