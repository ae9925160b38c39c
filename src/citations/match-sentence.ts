import type { SentenceEvidence } from '../domain/checked-sentence.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import type { ChunkWords } from '../ports/chunk-store.ts';
import type { CitedSentence } from '../ports/citation-checker.ts';
import { WORD_DIMENSIONS } from '../ports/embedder.ts';
import { bestCosines } from '../retrieval/word-similarity.ts';
import { type ContentWord, findContentWords } from '../text/content-words.ts';
import { findInnerCode, type TextRange } from '../text/markdown-blocks.ts';
import { memoize } from '../text/memoize.ts';
import { splitSentencesAndCode } from '../text/split-sentences.ts';

const EVIDENCE_COSTS = {
  /** For each doubling of its words: a long text has a similar word for almost any word. */
  length: 0.03,
  /** For each unit after the first, unless a colon introduces it. */
  unit: 0.05,
  /** The weight of a word that all units match equally well. */
  evenWord: 0.05,
};
/** Units. */
const LONGEST_EVIDENCE = 4;

/** How well the content words of a sentence match a chunk. */
export interface ChunkMatch {
  chunk: RetrievedChunk;
  /** The best match of each word, also in the title and headings. */
  words: Float64Array;
  units: UnitMatch[];
}

interface UnitMatch extends ChunkUnit {
  /** The best match of each word in the unit. */
  words: Float64Array;
}

/** A part of a chunk that can be evidence: a sentence, a row or a group of lines of code. */
interface ChunkUnit extends TextRange {
  isCode: boolean;
  /** Its content words, by their index in the chunk. */
  from: number;
  to: number;
}

/** Matches words by their cosines. */
export function matchVectors(
  words: Int8Array,
  chunk: RetrievedChunk,
  { text, path }: ChunkWords,
): ChunkMatch {
  return matchUnits(chunk, bestCosines(words, path), ({ from, to }) =>
    bestCosines(words, text.subarray(from * WORD_DIMENSIONS, to * WORD_DIMENSIONS)),
  );
}

/** Matches words that are equal. */
export function matchTerms(text: string, chunk: RetrievedChunk): ChunkMatch {
  const terms = contentWordsOf(text).map(({ term }) => term);
  const findIn = (words: readonly ContentWord[]) => {
    const known = new Set(words.map(({ term }) => term));
    return Float64Array.from(terms, (term) => Number(known.has(term)));
  };
  const found = contentWordsOf(chunk.text);
  const path = contentWordsOf([chunk.title, ...chunk.headings].join('\n'));
  return matchUnits(chunk, findIn(path), ({ from, to }) => findIn(found.slice(from, to)));
}

function matchUnits(
  chunk: RetrievedChunk,
  inPath: Float64Array,
  matchUnit: (unit: ChunkUnit) => Float64Array,
): ChunkMatch {
  const units = unitsOf(chunk.text).map((unit) => ({ ...unit, words: matchUnit(unit) }));
  return { chunk, words: units.reduce((best, unit) => maxOf(best, unit.words), inPath), units };
}

/**
 * The units of a cited chunk, one or several in a row, that match best. A word counts by the square of its match, so that
 * many vague matches are worth less than a few good ones, and more if some unit matches it better than the others do.
 */
export function findEvidence(matches: readonly ChunkMatch[]): SentenceEvidence | null {
  const weights = weighWords(matches.flatMap(({ units }) => units));
  const total = Math.max(1e-9, sumOf(weights));
  const scoreRun = (words: Float64Array, length: number) =>
    sumOf(words.map((value, index) => square(value) * (weights[index] ?? 0))) / total -
    EVIDENCE_COSTS.length * Math.log2(Math.max(1, length));
  let best = { score: 0, evidence: null as SentenceEvidence | null };
  for (const { chunk, units } of matches) {
    for (const [first, { start, words: own }] of units.entries()) {
      let words = own;
      let length = 0;
      let cost = 0;
      for (const [index, unit] of units.slice(first, first + LONGEST_EVIDENCE).entries()) {
        const before = units[first + index - 1];
        if (index > 0 && before !== undefined) {
          if (before.isCode && !unit.isCode) break;
          words = maxOf(words, unit.words);
          cost += chunk.text.charAt(before.end - 1) === ':' ? 0 : EVIDENCE_COSTS.unit;
        }
        length += unit.to - unit.from;
        const score = scoreRun(words, length) - cost;
        if (score > best.score) best = { score, evidence: toEvidence(chunk, start, unit.end) };
      }
    }
  }
  return best.evidence;
}

/** How much better than on average the best unit matches each word. */
function weighWords(units: readonly UnitMatch[]): Float64Array {
  const most = new Float64Array(units[0]?.words.length ?? 0);
  return most.map((_, index) => {
    const squares = units.map(({ words }) => square(words[index] ?? 0));
    return EVIDENCE_COSTS.evenWord + Math.max(...squares) - sumOf(squares) / squares.length;
  });
}

/** The range of one or more whole units of a chunk that have exactly the words of a sentence, in any case. */
export function findQuote({ text, chunks }: CitedSentence): SentenceEvidence | null {
  const sought = spell(text);
  if (sought === '') return null;
  for (const chunk of chunks) {
    const units = unitsOf(chunk.text).map(({ start, end }) => ({
      start,
      end,
      words: spell(chunk.text.slice(start, end)),
    }));
    for (const [first, { start }] of units.entries()) {
      let rest = sought;
      for (const { words, end } of units.slice(first)) {
        if (rest === words) return toEvidence(chunk, start, end);
        if (words === '' || !rest.startsWith(`${words} `)) break;
        rest = rest.slice(words.length + 1);
      }
    }
  }
  return null;
}

/** The words of a text in lower case, without punctuation and markup. */
const spell = memoize({ size: 1000 }, (text: string): string =>
  (
    text
      .toLowerCase()
      .replace(/\]\([^()\s]*\)/g, ']')
      .match(/[\p{L}\p{N}]+(?:[.,'’-][\p{L}\p{N}]+)*/gu) ?? []
  ).join(' '),
);

const unitsOf = memoize({ size: 64 }, (text: string): readonly ChunkUnit[] => {
  const words = contentWordsOf(text);
  const ranges = splitSentencesAndCode(text).flatMap((range) =>
    range.isCode ? splitCode(text, findInnerCode(text, range)) : [range],
  );
  let at = 0;
  const indexAt = (offset: number) => {
    while (at < words.length && (words[at]?.start ?? 0) < offset) at += 1;
    return at;
  };
  return ranges.map(({ start, end, isCode }) => ({
    start,
    end,
    isCode,
    from: indexAt(start),
    to: indexAt(end),
  }));
});

/** The content words of a chunk, a sentence or a path. */
export const contentWordsOf: (text: string) => readonly ContentWord[] = memoize(
  { size: 200 },
  findContentWords,
);

/** The groups of lines between blank lines. */
function splitCode(text: string, { start, end }: TextRange) {
  return Array.from(text.slice(start, end).matchAll(/\S[^\n]*(?:\n[^\S\n]*\S[^\n]*)*/g), (group) => ({
    start: start + group.index,
    end: start + group.index + group[0].trimEnd().length,
    isCode: true,
  }));
}

function toEvidence({ chunkId, text }: RetrievedChunk, start: number, end: number): SentenceEvidence {
  return { chunkId, start, end, text: text.slice(start, end) };
}

function square(value: number): number {
  return Math.max(0, value) ** 2;
}

function maxOf(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, index) => Math.max(value, b[index] ?? 0));
}

function sumOf(values: Float64Array | readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** The mean of the best matches; 1 for a sentence without content words. */
export function meanMatch(words: Float64Array): number {
  return words.length === 0 ? 1 : sumOf(words) / words.length;
}
