import type { DocumentBlock, ParsedDocument } from '../domain/document.ts';
import { splitPlainSentences } from '../text/split-sentences.ts';

export type CountTokens = (text: string) => number;

/** A range of a text: `text.slice(start, end)`. */
interface Span {
  start: number;
  end: number;
}

export interface SectionHeading {
  depth: number;
  text: string;
  start: number;
}

/** Work that is paused at a `yield`. */
export type WorkInSteps<T> = Generator<undefined, T, undefined>;

/** A block that fits into a chunk, or a piece of one that does not. Units are not split further. */
export interface ChunkUnit extends Span {
  kind: DocumentBlock['kind'];
  tokens: number;
  /** The headings above it, outermost first. */
  path: readonly SectionHeading[];
  /** The index in `path` of the first heading that directly precedes it; `path.length` if none does. */
  opensFrom: number;
}

/** The number of tokens that fit into a chunk below these headings. */
export type ChunkBudget = (path: readonly SectionHeading[]) => number;

/** A heading with nothing below it becomes a unit, so that it is not lost. */
export function* splitIntoUnits(
  document: ParsedDocument,
  budgetOf: ChunkBudget,
  countTokens: CountTokens,
): WorkInSteps<ChunkUnit[]> {
  const { text, blocks } = document;
  const units: ChunkUnit[] = [];
  let path: SectionHeading[] = [];
  let opensFrom = 0;

  for (const [index, block] of blocks.entries()) {
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
        continue;
      }
    }
    for (const piece of yield* splitToFit(text, block, budgetOf(path), countTokens)) {
      units.push({ ...piece, kind: block.kind, path, opensFrom });
      opensFrom = path.length;
    }
  }
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
): WorkInSteps<SizedSpan[]> {
  return split(block, splitters[block.kind]);

  function* split(span: Span, [splitter, ...finer]: Splitter[]): WorkInSteps<SizedSpan[]> {
    yield;
    const { start, end } = span;
    // Counting is slow, so texts that cannot fit are not counted.
    const tokens =
      end - start > maxTokens * MAX_TOKEN_CHARACTERS
        ? Number.POSITIVE_INFINITY
        : countTokens(text.slice(start, end));
    if (tokens <= maxTokens || end - start <= 1) return [{ start, end, tokens }];
    const pieces = (splitter ?? splitInHalf)(text, span);
    if (pieces.length === 1 && splitter === undefined) return [{ start, end, tokens }];
    const fitting: SizedSpan[] = [];
    for (const piece of pieces) for (const part of yield* split(piece, finer)) fitting.push(part);
    return mergeRuns(fitting);
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

export function splitSpanIntoSentences(text: string, { start, end }: Span): Span[] {
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
