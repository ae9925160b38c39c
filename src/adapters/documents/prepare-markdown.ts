import { parse } from 'yaml';

/** Opens with a key, so that text between two rules at the top of a document is not taken for fields. */
const FRONT_MATTER =
  /^---[ \t]*\n((?:[ \t]*(?:#.*)?\n)*["']?\w[\w ./-]*["']?[ \t]*:(?:[ \t].*)?\n(?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/** Takes YAML front matter off a document. */
export function takeFrontMatter(source: string): {
  metadata: Record<string, string>;
  body: string;
  linesBefore: number;
} {
  const [whole = '', yaml = ''] = FRONT_MATTER.exec(source) ?? [];
  const linesBefore = whole.split('\n').length - 1;
  return { metadata: readFields(yaml), body: source.slice(whole.length), linesBefore };
}

/** The scalar fields of YAML front matter as they are written; lists of scalars are joined. Empty if it is broken. */
function readFields(yaml: string): Record<string, string> {
  const fields = Object.entries(parseFields(yaml)).flatMap(([key, value]): [string, string][] => {
    const text = Array.isArray(value) ? value.map(scalarText).filter(Boolean).join(', ') : scalarText(value);
    return text === '' ? [] : [[key, text]];
  });
  return Object.fromEntries(fields);
}

/** By the failsafe schema every scalar stays a string, so version 1.10 does not turn into 1.1. */
function parseFields(yaml: string): object {
  try {
    const parsed: unknown = parse(yaml, { schema: 'failsafe', logLevel: 'error' });
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function scalarText(value: unknown): string {
  return typeof value === 'string' && value !== 'null' && value !== '~' ? value.trim() : '';
}

/** Marks a label that `labelAdmonitions` made, so that it can be told from a written one and undone. */
export const LABEL_MARK = '\ue0ff';

/**
 * Docusaurus writes `:::note Title` and VitePress `::: tip Title`; the parser knows only `:::note[Title]`.
 * The label keeps the rest of the line as it was, since the line may turn out to be code.
 */
export function labelAdmonitions(source: string): string {
  return source.replace(
    /^([ \t>]*:{3,})([ \t]*([a-z][\w-]*)(?:[ \t]+[^\s{[][^\n]*)?)[ \t]*$/gim,
    (line, colons: string, rest: string, name: string) =>
      rest === name ? line : `${colons}${name}[${LABEL_MARK}${rest}]`,
  );
}

/** More constructs inside each other than any document means; the parser would take minutes, or the whole stack. */
const DEEPEST = 100;

/** Throws a RangeError for lists and quotes opened on one line, or admonitions opened and not closed, without end. */
export function refuseDeepNesting(source: string): void {
  const opened = new RegExp(
    `^[ \\t]*(?:(?:>|(?:[-+*]|\\d{1,9}[.)])[ \\t])[ \\t]*){${DEEPEST},}[^\\s>*+-]`,
    'm',
  );
  if (opened.test(source)) throw new RangeError(`A line opens more than ${DEEPEST} lists or quotes.`);

  let depth = 0;
  for (const [, name] of source.matchAll(/^[ \t>]*:{3,}[ \t]*([a-z].*)?$/gim)) {
    depth = name === undefined ? Math.max(0, depth - 1) : depth + 1;
    if (depth > DEEPEST) throw new RangeError(`More than ${DEEPEST} admonitions are open.`);
  }
}

const FENCE = /^\s*(`{3,}|~{3,})/;
/** `!!! note "Title"`, `??? tip`, `=== "Tab"`: what belongs to it is indented by four below it. */
const INDENTED = /^( *)(?:!!!|\?\?\?\+?|===[!+]?)[ \t]+(?:([\w-]+)[\w -]*)?(?:"([^"]*)")?[ \t]*$/;
/** `/// note | Title`, closed by `///`. */
const BLOCK = /^( *)\/{3,}[ \t]*(?:([\w-]+)(?:[ \t]*\|[ \t]*(.*?))?)?[ \t]*$/;
const INDENT = 4;

/**
 * The admonitions, tabs and blocks of MkDocs and its extensions as plain Markdown: a title above what they hold. A
 * parser of Markdown would take what is indented for code. There are as many lines as before, so that places stay right.
 */
export function openMkdocsBlocks(source: string): string {
  if (!/^ *(?:!!!|\?\?\?|===|\/\/\/)/m.test(source)) return source;
  const lines = source.split('\n');
  /** How far the blocks that are open are indented, innermost last. */
  const open: number[] = [];
  let fence: string | null = null;
  return lines
    .map((line, index) => {
      const isBlank = line.trim() === '';
      const indent = line.length - line.trimStart().length;
      while (fence === null && !isBlank && open.length > 0 && indent < (open.at(-1) ?? 0) + INDENT)
        open.pop();
      const own = line.slice(Math.min(indent, INDENT * open.length));
      const ticks = FENCE.exec(own)?.[1] ?? null;
      if (fence !== null) {
        if (ticks?.startsWith(fence) && own.trim() === ticks) fence = null;
        return own;
      }
      if (ticks !== null) {
        fence = ticks;
        return own;
      }
      const indented = INDENTED.exec(line);
      if (indented !== null && (indented[2] ?? indented[3]) !== undefined && goesOn(lines, index)) {
        open.push(indent);
        return titleOf(own, indented[2], indented[3]);
      }
      const block = BLOCK.exec(own);
      return block === null ? own : block[2] === undefined ? '' : titleOf(own, block[2], block[3]);
    })
    .join('\n');
}

function goesOn(lines: readonly string[], index: number): boolean {
  const indent = (line: string) => line.length - line.trimStart().length;
  const next = lines.slice(index + 1).find((line) => line.trim() !== '');
  return next !== undefined && indent(next) >= indent(lines[index] ?? '') + INDENT;
}

/** On a line of its own, whatever follows: a blank line would be one too many. */
function titleOf(line: string, kind = '', title = ''): string {
  const text = title.trim() || kind.charAt(0).toUpperCase() + kind.slice(1);
  return `${line.slice(0, line.length - line.trimStart().length)}**${text}**`;
}

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
