import { createHash } from 'node:crypto';
import type { Chunk, ParsedDocument } from '../domain/document.ts';
import { type CountTokens, type Heading, type Unit, unitsOf } from './chunk-units.ts';
import { headingPrefix } from './heading-prefix.ts';
import { sentences } from './split-text.ts';

/** Changes whenever the same document would yield other chunks, so that it is chunked anew. */
export const CHUNKER_VERSION = 1;

/** The embedder adds a token at the start and one at the end. */
const ADDED_TOKENS = 2;

export interface ChunkOptions {
  title: string;
  /** What the embedder reads at most. */
  maxTokens: number;
  /** Must be additive: texts joined by white space have as many tokens as both together. */
  countTokens: CountTokens;
}

/** A run of units that become one chunk. `path` holds for all of them. */
interface Draft {
  start: number;
  end: number;
  tokens: number;
  path: readonly Heading[];
  opensFrom: number;
}

/**
 * Cuts a document along its structure. Every chunk is a slice of the text, with the headings above it on
 * the side; blocks are split only when they alone are too long; sections too small to stand alone join
 * their neighbours; a section that takes several chunks repeats its last sentence at the start of the next.
 */
export function chunkDocument(document: ParsedDocument, options: ChunkOptions): Chunk[] {
  const { text } = document;
  const { title, maxTokens, countTokens } = options;
  /** Headings may take a quarter of what is embedded. */
  const prefixLimit = Math.floor(maxTokens / 4);
  const overlapLimit = Math.floor(maxTokens / 8);
  /** Neighbours are joined up to half of a chunk; what is tiny joins any neighbour that has room. */
  const joinedLimit = Math.floor(maxTokens / 2);
  const tinySize = Math.floor(maxTokens / 8);
  const prefixes = new Map<readonly Heading[], { text: string; tokens: number }>();

  return mergeSmall(pack(unitsOf(document, budgetOf, countTokens))).map(toChunk);

  function headingsOf(path: readonly Heading[]): string[] {
    const headings = path.map((heading) => heading.text);
    return headings[0] === title ? headings.slice(1) : headings;
  }

  function prefixOf(path: readonly Heading[]): { text: string; tokens: number } {
    let prefix = prefixes.get(path);
    if (prefix === undefined) {
      prefix = headingPrefix([title, ...headingsOf(path)], prefixLimit, countTokens);
      prefixes.set(path, prefix);
    }
    return prefix;
  }

  function budgetOf(path: readonly Heading[]): number {
    return maxTokens - ADDED_TOKENS - prefixOf(path).tokens;
  }

  /** Fills chunks with the units of one section after the other. */
  function pack(units: readonly Unit[]): Draft[] {
    const packed: Draft[] = [];
    let last: Unit | undefined;
    for (const unit of units) {
      const draft = packed.at(-1);
      const budget = budgetOf(unit.path);
      const continues = last !== undefined && last.path === unit.path;
      if (draft !== undefined && continues && draft.tokens + unit.tokens <= budget) {
        draft.end = unit.end;
        draft.tokens += unit.tokens;
      } else {
        const overlap = last !== undefined && continues ? overlapOf(last, budget - unit.tokens) : null;
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

  /** The last sentence of what came before, if it is prose and short enough. */
  function overlapOf(unit: Unit, room: number): { start: number; tokens: number } | null {
    if (unit.kind !== 'paragraph' && unit.kind !== 'item') return null;
    const sentence = sentences(text, unit).at(-1);
    if (sentence === undefined) return null;
    const tokens = countTokens(text.slice(sentence.start, sentence.end));
    return tokens <= Math.min(overlapLimit, room) ? { start: sentence.start, tokens } : null;
  }

  function mergeSmall(drafts: readonly Draft[]): Draft[] {
    const merged: Draft[] = [];
    for (const draft of drafts) {
      const before = merged.at(-1);
      const together = before === undefined ? null : join(before, draft);
      if (together === null) merged.push(draft);
      else merged[merged.length - 1] = together;
    }
    return merged;
  }

  /** Two neighbours of which one is too small to stand alone, under the headings that both have in common. */
  function join(first: Draft, second: Draft): Draft | null {
    const isTiny = Math.min(first.tokens, second.tokens) < tinySize;
    if (!isTiny && first.tokens + second.tokens > joinedLimit) return null;
    const path = commonPath(first.path, second.path);
    // A heading that no longer stands above the chunk goes into its text, which it can only if it directly precedes it.
    const own = first.path[path.length];
    if (path.length < first.opensFrom) return null;
    const start = own?.start ?? first.start;
    const tokens = countTokens(text.slice(start, second.end));
    return tokens > budgetOf(path) ? null : { ...first, path, start, end: second.end, tokens };
  }

  function toChunk({ start, end, path, tokens }: Draft, chunkIndex: number): Chunk {
    const slice = text.slice(start, end);
    const embedded = `${prefixOf(path).text}\n${slice}`;
    return {
      text: slice,
      start,
      end,
      chunkIndex,
      headings: headingsOf(path),
      embedded,
      tokenCount: tokens + prefixOf(path).tokens + ADDED_TOKENS,
      contentHash: createHash('sha256').update(embedded).digest('hex'),
    };
  }
}

/** Gives back `a` itself where it can, since paths are told apart by identity. */
function commonPath(a: readonly Heading[], b: readonly Heading[]): readonly Heading[] {
  const parting = a.findIndex((heading, index) => heading !== b[index]);
  return parting < 0 ? a : a.slice(0, parting);
}
