import type { DocumentBlock, ParsedDocument } from '../domain/document.ts';
import type { SourceLocation } from '../domain/location.ts';
import type { ChunkBudget, CountTokens, SectionHeading, WorkInSteps } from './chunk-units.ts';

/** The rows of a block, and the lines around them that every piece repeats. */
interface FramedRows {
  opening: string[];
  rows: string[];
  closing: string[];
}

/**
 * Splits tables and code that are too long for a chunk: each piece repeats the table's header or the code's fence. A
 * piece of code ends at a blank line if there is one in its second half.
 */
export function* splitLongBlocks(
  document: ParsedDocument,
  budgetOf: ChunkBudget,
  countTokens: CountTokens,
): WorkInSteps<ParsedDocument> {
  const blocks: DocumentBlock[] = [];
  const parts: string[] = [];
  let length = 0;
  let path: SectionHeading[] = [];
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
    splitBlock(block, text).forEach((piece, index) => {
      if (index > 0) append('\n\n');
      blocks.push({ ...block, ...piece.location, start: length, end: length + piece.text.length });
      append(piece.text);
    });
    yield;
  }
  append(document.text.slice(copied));
  return { ...document, text: parts.join(''), blocks };

  function splitBlock(
    block: DocumentBlock,
    text: string,
  ): { text: string; location?: { location: SourceLocation } }[] {
    const budget = budgetOf(path);
    const frame = toFramedRows(block, text);
    // A token has at least one character; counting is slow.
    if (frame === null || text.length <= budget) return [{ text }];
    const sizes = frame.rows.map(countTokens);
    const available = budget - countTokens([...frame.opening, ...frame.closing].join('\n'));
    const fits = sizes.reduce((sum, size) => sum + size, 0) <= available;
    // A header that takes up most of a chunk is not worth repeating.
    if (fits || available < budget / 2) return [{ text }];
    return groupRows(frame.rows, sizes, available, block.kind === 'code').map(({ from, to }) => {
      const location = locateRows(block.location, frame, from, to);
      return {
        text: [...frame.opening, ...frame.rows.slice(from, to), ...frame.closing].join('\n'),
        ...(location && { location: { location } }),
      };
    });
  }
}

/** The longest runs of rows that fit. A single row may be too long. */
function groupRows(
  rows: readonly string[],
  sizes: readonly number[],
  maxTokens: number,
  endAtBlanks: boolean,
): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (let from = 0; from < rows.length; ) {
    let to = from + 1;
    for (let used = sizes[from] ?? 0; to < rows.length; to += 1) {
      used += sizes[to] ?? 0;
      if (used > maxTokens) break;
    }
    const blank = to < rows.length && endAtBlanks ? rows.slice(from, to + 1).findLastIndex(isBlank) : -1;
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

/** The line between a table's header and its rows. */
const HEADER_RULE = /^\|[ |:-]+\|$/;

/** Null for blocks without rows, tables without a header and code without a fence. */
function toFramedRows({ kind }: DocumentBlock, text: string): FramedRows | null {
  const rows = text.split('\n');
  if (kind === 'table' && rows.length > 3 && HEADER_RULE.test(rows[1] ?? ''))
    return { opening: rows.slice(0, 2), rows: rows.slice(2), closing: [] };
  if (kind !== 'code' || rows.length < 4 || !/^`{3,}/.test(rows[0] ?? '')) return null;
  return { opening: rows.slice(0, 1), rows: rows.slice(1, -1), closing: rows.slice(-1) };
}

/** The location of some rows, if each row of the block is one line or row of the source; otherwise the block's. */
function locateRows(
  whole: SourceLocation | undefined,
  frame: FramedRows,
  from: number,
  to: number,
): SourceLocation | undefined {
  if (whole === undefined) return undefined;
  const { opening, rows, closing } = frame;
  const span = whole.to - whole.from + 1;
  // The source has the header or fence too, as Markdown does, or only the rows.
  const isFramed = span === opening.length + rows.length + closing.length;
  if (!isFramed && span !== rows.length) return whole;
  const first = whole.from + (isFramed ? opening.length : 0);
  return { ...whole, from: first + from, to: first + to - 1 };
}
