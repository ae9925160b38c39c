import { setImmediate } from 'node:timers/promises';
import {
  type DocumentBlock,
  type DocumentChunk,
  hashContent,
  headingLines,
  type ParsedDocument,
  withHeadingLine,
} from '../domain/document.ts';
import { mergeLocations, type SourceLocation } from '../domain/location.ts';
import { blankLinkTargets } from '../text/link-targets.ts';
import {
  type ChunkUnit,
  type CountTokens,
  type SectionHeading,
  splitIntoUnits,
  splitSpanIntoSentences,
  type WorkInSteps,
} from './chunk-units.ts';
import { splitLongBlocks } from './split-long-blocks.ts';

/** Raised whenever a document would yield other chunks, so that it is chunked again. */
export const CHUNKER_VERSION = 6;

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
 * with their neighbours. Within a section, each chunk repeats the last sentence of the one before. Pauses before the
 * first step, so that the next document is sent to the parser meanwhile.
 */
export async function chunkDocument(
  whole: ParsedDocument,
  options: ChunkOptions,
  signal?: AbortSignal,
): Promise<DocumentChunk[]> {
  const steps = chunkInSteps(whole, options);
  for (let pausedAt = Number.NEGATIVE_INFINITY; ; ) {
    if (performance.now() - pausedAt > PAUSE_MS) {
      await setImmediate();
      signal?.throwIfAborted();
      pausedAt = performance.now();
    }
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** How long events wait at most, such as Ctrl-C and the messages of the parser. */
const PAUSE_MS = 50;

function* chunkInSteps(whole: ParsedDocument, options: ChunkOptions): WorkInSteps<DocumentChunk[]> {
  const { title, maxTokens } = options;
  const countTokens: CountTokens = (part) => options.countTokens(blankLinkTargets(part));
  const overlapLimit = Math.floor(maxTokens / 8);
  /** Neighbours are merged up to half of a chunk, tiny ones with any neighbour that they fit into. */
  const mergeLimit = Math.floor(maxTokens / 2);
  const tinySize = Math.floor(maxTokens / 8);
  const prefixes = new Map<readonly SectionHeading[], { text: string; tokens: number }>();

  const document = yield* splitLongBlocks(whole, budgetOf, countTokens);
  const { text, blocks } = document;
  const units = yield* splitIntoUnits(document, budgetOf, countTokens);
  const drafts = yield* mergeSmall(yield* pack(units));
  const chunks: DocumentChunk[] = [];
  for (const draft of drafts) {
    chunks.push(toChunk(draft, chunks.length));
    yield;
  }
  return chunks;

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
  function* pack(units: readonly ChunkUnit[]): WorkInSteps<ChunkDraft[]> {
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
      yield;
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

  function* mergeSmall(drafts: readonly ChunkDraft[]): WorkInSteps<ChunkDraft[]> {
    const merged: ChunkDraft[] = [];
    for (const draft of drafts) {
      const before = merged.at(-1);
      const combined = before === undefined ? null : combine(before, draft);
      if (combined === null) merged.push(draft);
      else merged[merged.length - 1] = combined;
      yield;
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
    const embedded = withHeadingLine(prefixOf(path).text, slice);
    return {
      text: slice,
      start,
      end,
      chunkIndex,
      headings: headingsOf(path),
      location: locationOf(start, end),
      embedded,
      tokenCount: tokens + prefixOf(path).tokens + ADDED_TOKENS,
      contentHash: hashContent(embedded),
    };
  }
}

/** Rebuilds the text that is embedded for a stored chunk. */
export function toEmbeddedText(
  { title, headings, text }: Pick<DocumentChunk, 'headings' | 'text'> & { title: string },
  limits: Omit<ChunkOptions, 'title'>,
): string {
  return withHeadingLine(headingPrefix([title, ...headings], limits).text, blankLinkTargets(text));
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
  for (const text of headingLines(path)) {
    const tokens = countTokens(text);
    if (tokens <= limit) return { text, tokens };
  }
  return { text: '', tokens: 0 };
}
