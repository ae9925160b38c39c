import type { Block, ParsedDocument } from '../domain/document.ts';
import type { Location } from '../domain/location.ts';
import type { CountTokens, Heading } from './chunk-units.ts';

/** What stands around the rows of a block, in every piece of it. */
interface Frame {
  opening: string[];
  rows: string[];
  closing: string[];
}

/**
 * Replaces tables and code that are too long for a chunk by pieces that stand alone: rows below their header,
 * lines in a fence of their own. A piece of code ends at a blank line where there is one in its second half.
 */
export function splitBlocks(
  document: ParsedDocument,
  budgetOf: (path: readonly Heading[]) => number,
  countTokens: CountTokens,
): ParsedDocument {
  const blocks: Block[] = [];
  const parts: string[] = [];
  let length = 0;
  let path: Heading[] = [];
  let copied = 0;

  const append = (text: string): void => {
    parts.push(text);
    length += text.length;
  };

  for (const block of document.blocks) {
    const text = document.text.slice(block.start, block.end);
    append(document.text.slice(copied, block.start));
    copied = block.end;
    if (block.kind === 'heading') {
      path = [...path.filter(({ depth }) => depth < block.depth), { depth: block.depth, text, start: 0 }];
    }
    pieces(block, text).forEach((piece, index) => {
      if (index > 0) append('\n\n');
      blocks.push({ ...block, ...piece.location, start: length, end: length + piece.text.length });
      append(piece.text);
    });
  }
  append(document.text.slice(copied));
  return { ...document, text: parts.join(''), blocks };

  function pieces(block: Block, text: string): { text: string; location?: { location: Location } }[] {
    const budget = budgetOf(path);
    const frame = frameOf(block, text);
    // No token is shorter than a character; counting takes long.
    if (frame === null || text.length <= budget) return [{ text }];
    const sizes = frame.rows.map(countTokens);
    const room = budget - countTokens([...frame.opening, ...frame.closing].join('\n'));
    const isWhole = sizes.reduce((sum, size) => sum + size, 0) <= room;
    // A frame that takes up most of a chunk is not worth repeating.
    if (isWhole || room < budget / 2) return [{ text }];
    return runsOf(frame.rows, sizes, room, block.kind === 'code').map(({ from, to }) => {
      const location = rowsAt(block.location, frame, from, to);
      return {
        text: [...frame.opening, ...frame.rows.slice(from, to), ...frame.closing].join('\n'),
        ...(location && { location: { location } }),
      };
    });
  }
}

/** The longest runs of rows that fit; a row that is too long by itself is one. */
function runsOf(
  rows: readonly string[],
  sizes: readonly number[],
  room: number,
  atBlanks: boolean,
): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (let from = 0; from < rows.length; ) {
    let to = from + 1;
    for (let used = sizes[from] ?? 0; to < rows.length; to += 1) {
      used += sizes[to] ?? 0;
      if (used > room) break;
    }
    const blank = to < rows.length && atBlanks ? rows.slice(from, to + 1).findLastIndex(isBlank) : -1;
    if (blank > (to - from) / 2) to = from + blank;
    runs.push({ from, to });
    from = to;
    while (isBlank(rows[from] ?? 'end')) from += 1;
  }
  return runs;
}

function isBlank(row: string): boolean {
  return row.trim() === '';
}

/** What parts the header of a table from its rows. */
const HEADER_RULE = /^\|[ |:-]+\|$/;

/** Null for what has no rows, for a table without a header, and for code without a fence. */
function frameOf({ kind }: Block, text: string): Frame | null {
  const rows = text.split('\n');
  if (kind === 'table' && rows.length > 3 && HEADER_RULE.test(rows[1] ?? ''))
    return { opening: rows.slice(0, 2), rows: rows.slice(2), closing: [] };
  if (kind !== 'code' || rows.length < 4 || !/^`{3,}/.test(rows[0] ?? '')) return null;
  return { opening: rows.slice(0, 1), rows: rows.slice(1, -1), closing: rows.slice(-1) };
}

/** Where some rows of a block are in the source, if each of them is a line, or a row, of it. */
function rowsAt(whole: Location | undefined, frame: Frame, from: number, to: number): Location | undefined {
  if (whole === undefined) return undefined;
  const { opening, rows, closing } = frame;
  const span = whole.to - whole.from + 1;
  // The source has what stands around the rows too, as Markdown does, or the rows alone.
  const isFramed = span === opening.length + rows.length + closing.length;
  if (!isFramed && span !== rows.length) return whole;
  const first = whole.from + (isFramed ? opening.length : 0);
  return { ...whole, from: first + from, to: first + to - 1 };
}
