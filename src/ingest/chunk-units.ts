import type { Block, ParsedDocument } from '../domain/document.ts';
import { sentencesIn } from '../text/split-sentences.ts';

export type CountTokens = (text: string) => number;

/** A range of a text: `text.slice(start, end)`. */
interface Span {
  start: number;
  end: number;
}

export interface Heading {
  depth: number;
  text: string;
  start: number;
}

/** What is never split any further: a block that fits, or a piece of one that does not. */
export interface Unit extends Span {
  kind: Block['kind'];
  tokens: number;
  /** The headings above it, outermost first. */
  path: readonly Heading[];
  /** From which position of `path` on the headings directly precede it; `path.length` if none does. */
  opensFrom: number;
}

/** How many tokens of text fit into a chunk below these headings. */
type BudgetOf = (path: readonly Heading[]) => number;

/** Cuts a document into units that fit. A heading with nothing below it is a unit of its own, so that it is not lost. */
export function unitsOf(document: ParsedDocument, budgetOf: BudgetOf, countTokens: CountTokens): Unit[] {
  const { text, blocks } = document;
  const units: Unit[] = [];
  let path: Heading[] = [];
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
    for (const piece of fitting(text, block, budgetOf(path), countTokens)) {
      units.push({ ...piece, kind: block.kind, path, opensFrom });
      opensFrom = path.length;
    }
  });
  return units;
}

/** More characters than a token has on average, whatever the text. */
const LONGEST_TOKEN = 32;

type Splitter = (text: string, span: Span) => Span[];

const splitters: Record<Block['kind'], Splitter[]> = {
  heading: [words],
  paragraph: [sentences, words],
  item: [sentences, words],
  code: [lines, words],
  table: [lines, words],
};

/** The span itself if it fits, otherwise the largest runs of its pieces that do. */
function fitting(
  text: string,
  block: Block,
  maxTokens: number,
  countTokens: CountTokens,
): (Span & { tokens: number })[] {
  return split(block, splitters[block.kind]);

  function split(span: Span, [splitter, ...finer]: Splitter[]): (Span & { tokens: number })[] {
    const { start, end } = span;
    // Counting takes long; what cannot fit is not counted.
    const tokens =
      end - start > maxTokens * LONGEST_TOKEN
        ? Number.POSITIVE_INFINITY
        : countTokens(text.slice(start, end));
    if (tokens <= maxTokens || end - start <= 1) return [{ start, end, tokens }];
    const pieces = (splitter ?? halves)(text, span);
    if (pieces.length === 1 && splitter === undefined) return [{ start, end, tokens }];
    return joined(pieces.flatMap((piece) => split(piece, finer)));
  }

  /** Joins neighbours again as long as they fit together. */
  function joined(pieces: (Span & { tokens: number })[]): (Span & { tokens: number })[] {
    const runs: (Span & { tokens: number })[] = [];
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

export function sentences(text: string, { start, end }: Span): Span[] {
  return sentencesIn(text.slice(start, end)).map((sentence) => ({
    start: start + sentence.start,
    end: start + sentence.end,
  }));
}

/** Lines keep their indentation: it means something in code. */
function lines(text: string, { start, end }: Span): Span[] {
  const found = text.slice(start, end).matchAll(/[^\n]*\S/g);
  return Array.from(found, (match) => at(start + match.index, match[0].length));
}

function words(text: string, span: Span): Span[] {
  return matches(text, span, /\S+/g);
}

/** Two halves, cut between code points. */
function halves(text: string, span: Span): Span[] {
  let middle = (span.start + span.end) >>> 1;
  const code = text.charCodeAt(middle);
  if (code >= 0xdc00 && code <= 0xdfff) middle += middle + 1 < span.end ? 1 : -1;
  return trimmed(text, [
    { start: span.start, end: middle },
    { start: middle, end: span.end },
  ]);
}

function matches(text: string, span: Span, pattern: RegExp): Span[] {
  const found = text.slice(span.start, span.end).matchAll(pattern);
  return trimmed(
    text,
    Array.from(found, (match) => at(span.start + match.index, match[0].length)),
  );
}

function at(start: number, length: number): Span {
  return { start, end: start + length };
}

/** Without white space at the ends, and without what is nothing else. */
function trimmed(text: string, spans: readonly Span[]): Span[] {
  return spans.flatMap(({ start, end }) => {
    const piece = text.slice(start, end);
    const lead = piece.length - piece.trimStart().length;
    const length = piece.trim().length;
    return length === 0 ? [] : [at(start + lead, length)];
  });
}
