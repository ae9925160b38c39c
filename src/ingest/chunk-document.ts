import { createHash } from 'node:crypto';
import type { Block, Chunk, ParsedDocument } from '../domain/document.ts';
import { type Location, spanning } from '../domain/location.ts';
import { type CountTokens, type Heading, sentences, type Unit, unitsOf } from './chunk-units.ts';
import { splitBlocks } from './split-blocks.ts';

/** Changes whenever the same document would yield other chunks, so that it is chunked anew. */
export const CHUNKER_VERSION = 3;

/** The embedder adds a token at the start and one at the end. */
const ADDED_TOKENS = 2;

interface ChunkOptions {
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
 * Cuts a document along its structure. Every chunk is a slice of one text, with the headings above it on
 * the side; blocks are split only when they alone are too long, tables and code into pieces that repeat
 * header and fence; sections too small to stand alone join
 * their neighbours; a section that takes several chunks repeats its last sentence at the start of the next.
 */
export function chunkDocument(whole: ParsedDocument, options: ChunkOptions): Chunk[] {
  const { title, maxTokens, countTokens } = options;
  const overlapLimit = Math.floor(maxTokens / 8);
  /** Neighbours are joined up to half of a chunk; what is tiny joins any neighbour that has room. */
  const joinedLimit = Math.floor(maxTokens / 2);
  const tinySize = Math.floor(maxTokens / 8);
  const prefixes = new Map<readonly Heading[], { text: string; tokens: number }>();

  const document = splitBlocks(whole, budgetOf, countTokens);
  const { text, blocks } = document;
  return mergeSmall(pack(unitsOf(document, budgetOf, countTokens))).map(toChunk);

  function headingsOf(path: readonly Heading[]): string[] {
    const headings = path.map((heading) => heading.text);
    return headings[0] === title ? headings.slice(1) : headings;
  }

  function prefixOf(path: readonly Heading[]): { text: string; tokens: number } {
    let prefix = prefixes.get(path);
    if (prefix === undefined) {
      prefix = headingPrefix([title, ...headingsOf(path)], options);
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

  /** From the first to the last line, page, cell or row of the blocks that a range touches. */
  function locationOf(start: number, end: number): Location | undefined {
    let location: Location | undefined;
    let index = firstEndingAfter(blocks, start);
    for (; index < blocks.length && (blocks[index]?.start ?? end) < end; index += 1) {
      location = spanning(location, blocks[index]?.location);
    }
    return location;
  }

  function toChunk({ start, end, path, tokens }: Draft, chunkIndex: number): Chunk {
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

/** What is embedded of a chunk, from what a store keeps of it. */
export function embeddedText(
  { title, headings, text }: Pick<Chunk, 'headings' | 'text'> & { title: string },
  limits: Omit<ChunkOptions, 'title'>,
): string {
  return withPrefix(headingPrefix([title, ...headings], limits).text, text);
}

function withPrefix(prefix: string, text: string): string {
  return `${prefix}\n${text}`;
}

/** The position of the first block that ends after an offset. */
function firstEndingAfter(blocks: readonly Block[], offset: number): number {
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((blocks[middle]?.end ?? 0) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Gives back `a` itself where it can, since paths are told apart by identity. */
function commonPath(a: readonly Heading[], b: readonly Heading[]): readonly Heading[] {
  const parting = a.findIndex((heading, index) => heading !== b[index]);
  return parting < 0 ? a : a.slice(0, parting);
}

/**
 * Title and headings as one line, which may take a quarter of what is embedded. Of a long path the ends say most, so the
 * middle goes first.
 */
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
    else parts[0] = shortened(parts[0] ?? '');
  }
}

function shortened(heading: string): string {
  const words = heading.split(' ');
  return words.length > 1
    ? words.slice(0, Math.ceil(words.length / 2)).join(' ')
    : heading.slice(0, heading.length >>> 1);
}
