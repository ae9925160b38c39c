/** The parser's time grows with the square of the length, so long documents are read in pieces of about this many characters. */
const PIECE_LENGTH = 8_192;

/** Past this length a list, a paragraph or a table is divided too. */
const LONGEST_BLOCK = 32 * PIECE_LENGTH;

/** A part of a source, and how many lines lie before it: fewer than none where definitions were put before it. */
export interface MarkdownPiece {
  text: string;
  linesBefore: number;
}

/**
 * Divides Markdown where no construct goes on: before a line that follows a blank one and begins neither with
 * white space nor with the marker of a list, outside of fences, raw HTML and directives.
 * Link definitions of other pieces are put before each piece that uses them.
 */
export function splitMarkdown(source: string): MarkdownPiece[] {
  if (source.length <= 2 * PIECE_LENGTH) return [{ text: source, linesBefore: 0 }];
  const pieces: MarkdownPiece[] = [];
  const scan = createScanner();
  let start = 0;
  let offset = 0;
  let linesBefore = 0;
  let afterBlank = false;
  for (const [index, line] of source.split('\n').entries()) {
    const length = offset - start;
    const isBoundary = afterBlank && /^[^\s\-+*\d]/.test(line);
    if (!scan.isInside() && length >= (isBoundary ? PIECE_LENGTH : LONGEST_BLOCK)) {
      pieces.push({ text: source.slice(start, offset), linesBefore });
      start = offset;
      linesBefore = index;
    }
    scan.next(line);
    afterBlank = line.trim() === '';
    offset += line.length + 1;
  }
  pieces.push({ text: source.slice(start), linesBefore });
  return withDefinitions(pieces);
}

interface Scanner {
  next(line: string): void;
  /** Whether the lines so far leave a construct open that blank lines do not end. */
  isInside(): boolean;
}

function createScanner(): Scanner {
  let closing: RegExp | null = null;
  let directives = 0;
  return {
    next(line) {
      if (closing !== null) {
        if (closing.test(line)) closing = null;
        return;
      }
      const fence = /^[ \t>]*(?:(?:[-+*]|\d+[.)])[ \t]+)*(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(line);
      const run = fence?.[1] ?? fence?.[2];
      const html = /^ {0,3}<(script|pre|style|textarea|!--)/i.exec(line)?.[1];
      if (run !== undefined) {
        closing = new RegExp(`^[ \\t>]*${run}${run.charAt(0)}*[ \\t]*$`);
      } else if (html !== undefined) {
        const end = html === '!--' ? /-->/ : new RegExp(`</${html}>`, 'i');
        closing = end.test(line) ? null : end;
      } else if (/^[ \t>]*:{3,}[ \t]*[a-z]/i.test(line)) {
        directives += 1;
      } else if (/^[ \t>]*:{3,}[ \t]*$/.test(line)) {
        directives = Math.max(0, directives - 1);
      }
    },
    isInside: () => closing !== null || directives > 0,
  };
}

function withDefinitions(pieces: MarkdownPiece[]): MarkdownPiece[] {
  const definitions = new Map<string, string>();
  for (const piece of pieces) {
    for (const [line, label = ''] of piece.text.matchAll(/^ {0,3}\[(?!\^)([^\]\n]+)\]:[ \t]*\S.*$/gm)) {
      const key = normalise(label);
      if (!definitions.has(key)) definitions.set(key, line.trim());
    }
  }
  if (definitions.size === 0) return pieces;
  return pieces.map((piece) => {
    const used = new Set<string>();
    for (const [, label = ''] of piece.text.matchAll(/\[([^[\]\n]+)\]/g)) {
      const definition = definitions.get(normalise(label));
      if (definition !== undefined) used.add(definition);
    }
    if (used.size === 0) return piece;
    return {
      text: `${[...used].join('\n')}\n\n${piece.text}`,
      linesBefore: piece.linesBefore - used.size - 1,
    };
  });
}

function normalise(label: string): string {
  return label.trim().replace(/\s+/g, ' ').toLowerCase();
}
