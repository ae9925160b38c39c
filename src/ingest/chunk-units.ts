import type { Block, ParsedDocument } from '../domain/document.ts';
import { halves, lines, type Span, sentences, words } from './split-text.ts';

export type CountTokens = (text: string) => number;

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
export type BudgetOf = (path: readonly Heading[]) => number;

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
