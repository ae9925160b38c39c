import { createHash } from 'node:crypto';
import type { DocumentBlock, DocumentChunk, ParsedDocument } from '../domain/document.ts';
import { mergeLocations, type SourceLocation } from '../domain/location.ts';
import { splitPlainSentences } from '../text/split-sentences.ts';

/** Raised whenever a document would yield other chunks, so that it is chunked again. */
export const CHUNKER_VERSION = 3;

/** The embedder adds a token at the start and one at the end. */
const ADDED_TOKENS = 2;

interface ChunkOptions {
  title: string;
  /** The embedder's limit. */
  maxTokens: number;
  /** Must be additive for texts joined by white space. */
  countTokens: CountTokens;
}

/** Consecutive units that become one chunk. */
type ChunkDraft = Omit<ChunkUnit, 'kind'>;

/**
 * Splits a document along its structure. Each chunk is a slice of the text, with the headings above it. A block is split
 * only if it is too long for one chunk; pieces of tables and code repeat the header or fence. Small sections are merged
 * with their neighbours. Within a section, each chunk repeats the last sentence of the one before.
 */
export function chunkDocument(whole: ParsedDocument, options: ChunkOptions): DocumentChunk[] {
  const { title, maxTokens, countTokens } = options;
  const overlapLimit = Math.floor(maxTokens / 8);
  /** Neighbours are merged up to half of a chunk, tiny ones with any neighbour that they fit into. */
  const mergeLimit = Math.floor(maxTokens / 2);
  const tinySize = Math.floor(maxTokens / 8);
  const prefixes = new Map<readonly SectionHeading[], { text: string; tokens: number }>();

  const document = splitLongBlocks(whole, budgetOf, countTokens);
  const { text, blocks } = document;
  return mergeSmall(pack(splitIntoUnits(document, budgetOf, countTokens))).map(toChunk);

  function headingsOf(path: readonly SectionHeading[]): string[] {
    const headings = path.map((heading) => heading.text);
    return headings[0] === title ? headings.slice(1) : headings;
  }

  function prefixOf(path: readonly SectionHeading[]): { text: string; tokens: number } {
    let prefix = prefixes.get(path);
    if (prefix === undefined) {
      prefix = headingPrefix([title, ...headingsOf(path)], options);
      prefixes.set(path, prefix);
    }
    return prefix;
  }

  function budgetOf(path: readonly SectionHeading[]): number {
    return maxTokens - ADDED_TOKENS - prefixOf(path).tokens;
  }

  /** Fills chunks with units, never across sections. */
  function pack(units: readonly ChunkUnit[]): ChunkDraft[] {
    const packed: ChunkDraft[] = [];
    let last: ChunkUnit | undefined;
    for (const unit of units) {
      const draft = packed.at(-1);
      const budget = budgetOf(unit.path);
      const sameSection = last !== undefined && last.path === unit.path;
      if (draft !== undefined && sameSection && draft.tokens + unit.tokens <= budget) {
        draft.end = unit.end;
        draft.tokens += unit.tokens;
      } else {
        const overlap = last !== undefined && sameSection ? overlapOf(last, budget - unit.tokens) : null;
        packed.push({
          start: overlap?.start ?? unit.start,
          end: unit.end,
          tokens: unit.tokens + (overlap?.tokens ?? 0),
          path: unit.path,
          opensFrom: unit.opensFrom,
        });
      }
      last = unit;
    }
    return packed;
  }

  /** The last sentence of a unit, if it is prose and short enough. */
  function overlapOf(unit: ChunkUnit, freeTokens: number): { start: number; tokens: number } | null {
    if (unit.kind !== 'paragraph' && unit.kind !== 'item') return null;
    const sentence = splitSpanIntoSentences(text, unit).at(-1);
    if (sentence === undefined) return null;
    const tokens = countTokens(text.slice(sentence.start, sentence.end));
    return tokens <= Math.min(overlapLimit, freeTokens) ? { start: sentence.start, tokens } : null;
  }

  function mergeSmall(drafts: readonly ChunkDraft[]): ChunkDraft[] {
    const merged: ChunkDraft[] = [];
    for (const draft of drafts) {
      const before = merged.at(-1);
      const combined = before === undefined ? null : combine(before, draft);
      if (combined === null) merged.push(draft);
      else merged[merged.length - 1] = combined;
    }
    return merged;
  }

  /** Merges two neighbours under their common headings; null if they are too large for that. */
  function combine(first: ChunkDraft, second: ChunkDraft): ChunkDraft | null {
    const isTiny = Math.min(first.tokens, second.tokens) < tinySize;
    if (!isTiny && first.tokens + second.tokens > mergeLimit) return null;
    const path = commonPath(first.path, second.path);
    // A heading that is not common to both becomes part of the text; it must directly precede it.
    const ownHeading = first.path[path.length];
    if (path.length < first.opensFrom) return null;
    const start = ownHeading?.start ?? first.start;
    const tokens = countTokens(text.slice(start, second.end));
    return tokens > budgetOf(path) ? null : { ...first, path, start, end: second.end, tokens };
  }

  /** Spans the locations of all blocks that overlap a range. */
  function locationOf(start: number, end: number): SourceLocation | undefined {
    let location: SourceLocation | undefined;
    let index = firstEndingAfter(blocks, start);
    for (; index < blocks.length && (blocks[index]?.start ?? end) < end; index += 1) {
      location = mergeLocations(location, blocks[index]?.location);
    }
    return location;
  }

  function toChunk({ start, end, path, tokens }: ChunkDraft, chunkIndex: number): DocumentChunk {
    const slice = text.slice(start, end);
    const embedded = withPrefix(prefixOf(path).text, slice);
    return {
      text: slice,
      start,
      end,
      chunkIndex,
      headings: headingsOf(path),
      location: locationOf(start, end),
      embedded,
      tokenCount: tokens + prefixOf(path).tokens + ADDED_TOKENS,
      contentHash: createHash('sha256').update(embedded).digest('hex'),
    };
  }
}

/** Rebuilds the text that is embedded for a stored chunk. */
export function toEmbeddedText(
  { title, headings, text }: Pick<DocumentChunk, 'headings' | 'text'> & { title: string },
  limits: Omit<ChunkOptions, 'title'>,
): string {
  return withPrefix(headingPrefix([title, ...headings], limits).text, text);
}

function withPrefix(prefix: string, text: string): string {
  return `${prefix}\n${text}`;
}

/** The index of the first block that ends after an offset. */
function firstEndingAfter(blocks: readonly DocumentBlock[], offset: number): number {
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((blocks[middle]?.end ?? 0) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns `a` itself if it is the common path: paths are compared by identity. */
function commonPath(a: readonly SectionHeading[], b: readonly SectionHeading[]): readonly SectionHeading[] {
  const length = a.findIndex((heading, index) => heading !== b[index]);
  return length < 0 ? a : a.slice(0, length);
}

/** Title and headings on one line of at most a quarter of the tokens. Of a long path, the middle is dropped first. */
function headingPrefix(
  path: readonly string[],
  { maxTokens, countTokens }: Omit<ChunkOptions, 'title'>,
): { text: string; tokens: number } {
  const limit = Math.floor(maxTokens / 4);
  const parts = path.filter((part) => part !== '');
  for (;;) {
    const text = parts.join(' > ');
    const tokens = countTokens(text);
    if (tokens <= limit) return { text, tokens };
    if (parts.length > 1) parts.splice(parts.length > 2 ? 1 : 0, 1);
    else parts[0] = shortenHeading(parts[0] ?? '');
  }
}

function shortenHeading(heading: string): string {
  const words = heading.split(' ');
  return words.length > 1
    ? words.slice(0, Math.ceil(words.length / 2)).join(' ')
    : heading.slice(0, heading.length >>> 1);
}

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
function splitLongBlocks(
  document: ParsedDocument,
  budgetOf: TokenBudget,
  countTokens: CountTokens,
): ParsedDocument {
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

type CountTokens = (text: string) => number;

/** A range of a text: `text.slice(start, end)`. */
interface Span {
  start: number;
  end: number;
}

interface SectionHeading {
  depth: number;
  text: string;
  start: number;
}

/** A block that fits into a chunk, or a piece of one that does not. Units are not split further. */
interface ChunkUnit extends Span {
  kind: DocumentBlock['kind'];
  tokens: number;
  /** The headings above it, outermost first. */
  path: readonly SectionHeading[];
  /** The index in `path` of the first heading that directly precedes it; `path.length` if none does. */
  opensFrom: number;
}

/** The number of tokens that fit into a chunk below these headings. */
type TokenBudget = (path: readonly SectionHeading[]) => number;

/** A heading with nothing below it becomes a unit, so that it is not lost. */
function splitIntoUnits(
  document: ParsedDocument,
  budgetOf: TokenBudget,
  countTokens: CountTokens,
): ChunkUnit[] {
  const { text, blocks } = document;
  const units: ChunkUnit[] = [];
  let path: SectionHeading[] = [];
  let opensFrom = 0;

  blocks.forEach((block, index) => {
    if (block.kind === 'heading') {
      const parents = path.filter((heading) => heading.depth < block.depth);
      opensFrom = Math.min(opensFrom, parents.length);
      path = parents;
      const next = blocks[index + 1];
      const hasBody = next !== undefined && (next.kind !== 'heading' || next.depth > block.depth);
      if (hasBody) {
        path = [
          ...parents,
          { depth: block.depth, text: text.slice(block.start, block.end), start: block.start },
        ];
        return;
      }
    }
    for (const piece of splitToFit(text, block, budgetOf(path), countTokens)) {
      units.push({ ...piece, kind: block.kind, path, opensFrom });
      opensFrom = path.length;
    }
  });
  return units;
}

/** No text has more characters per token on average. */
const MAX_TOKEN_CHARACTERS = 32;

type Splitter = (text: string, span: Span) => Span[];

const splitWords = createSplitter(/\S+/g);
/** Keeps the indentation. */
const splitLines = createSplitter(/[^\n]*\S/g);
const trimSpan = createSplitter(/\S(?:.*\S)?/gs);

const splitters: Record<DocumentBlock['kind'], Splitter[]> = {
  heading: [splitWords],
  paragraph: [splitSpanIntoSentences, splitWords],
  item: [splitSpanIntoSentences, splitWords],
  code: [splitLines, splitWords],
  table: [splitLines, splitWords],
};

interface SizedSpan extends Span {
  tokens: number;
}

/** The block itself if it fits, otherwise the longest runs of its pieces that fit. */
function splitToFit(
  text: string,
  block: DocumentBlock,
  maxTokens: number,
  countTokens: CountTokens,
): SizedSpan[] {
  return split(block, splitters[block.kind]);

  function split(span: Span, [splitter, ...finer]: Splitter[]): SizedSpan[] {
    const { start, end } = span;
    // Counting is slow, so texts that cannot fit are not counted.
    const tokens =
      end - start > maxTokens * MAX_TOKEN_CHARACTERS
        ? Number.POSITIVE_INFINITY
        : countTokens(text.slice(start, end));
    if (tokens <= maxTokens || end - start <= 1) return [{ start, end, tokens }];
    const pieces = (splitter ?? splitInHalf)(text, span);
    if (pieces.length === 1 && splitter === undefined) return [{ start, end, tokens }];
    return mergeRuns(pieces.flatMap((piece) => split(piece, finer)));
  }

  /** Merges neighbouring pieces as long as they fit. */
  function mergeRuns(pieces: SizedSpan[]): SizedSpan[] {
    const runs: SizedSpan[] = [];
    for (const piece of pieces) {
      const run = runs.at(-1);
      if (run !== undefined && run.tokens + piece.tokens <= maxTokens) {
        run.end = piece.end;
        run.tokens += piece.tokens;
      } else {
        runs.push({ ...piece });
      }
    }
    return runs;
  }
}

function splitSpanIntoSentences(text: string, { start, end }: Span): Span[] {
  return splitPlainSentences(text.slice(start, end)).map((sentence) => ({
    start: start + sentence.start,
    end: start + sentence.end,
  }));
}

/** Never splits a surrogate pair. */
function splitInHalf(text: string, span: Span): Span[] {
  let middle = (span.start + span.end) >>> 1;
  const code = text.charCodeAt(middle);
  if (code >= 0xdc00 && code <= 0xdfff) middle += middle + 1 < span.end ? 1 : -1;
  const halves = [
    { start: span.start, end: middle },
    { start: middle, end: span.end },
  ];
  return halves.flatMap((half) => trimSpan(text, half));
}

function createSplitter(pattern: RegExp): Splitter {
  return (text, { start, end }) =>
    Array.from(text.slice(start, end).matchAll(pattern), ({ index, 0: { length } }) => ({
      start: start + index,
      end: start + index + length,
    }));
}
