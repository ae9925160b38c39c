import type { FlagReason, SentenceEvidence } from '../domain/checked-sentence.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import type { ChunkWords } from '../ports/chunk-store.ts';
import type { CitedSentence, SentenceCheck } from '../ports/citation-checker.ts';
import { WORD_DIMENSIONS } from '../ports/embedder.ts';
import { bestCosines } from '../retrieval/word-similarity.ts';
import { type ContentWord, findContentWords } from '../text/content-words.ts';
import { findInnerCode, type TextRange } from '../text/markdown-blocks.ts';
import { memoize } from '../text/memoize.ts';
import { splitSentencesAndCode } from '../text/split-sentences.ts';
import {
  findClaimedNames,
  findMissingCode,
  findMissingNumbers,
  findMissingQuotes,
  isAbbreviated,
  isNegated,
  isOppositeOf,
} from './claim-facts.ts';

// The whole decision about a cited sentence. decisions/0012 has the error rates of each constant.

export const CHECK_LIMITS = {
  /** A sentence whose words are less similar to those of every cited chunk is flagged. */
  similarity: 0.45,
  /** The same without word vectors: the share of its content words that some cited chunk has. */
  overlap: 0.2,
  /** A name that no source has is flagged if no word of the sources is as similar to it. */
  similarName: 0.45,
};
/** A sentence of a source that has this share of a sentence's words says the same, or the opposite. */
const SAME_STATEMENT = 0.9;
/** A source that denies more than the sentence says may deny the rest. */
const LONGEST_DENIAL = 1.2;
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
/** Content words. Of fewer, too little is known to call a sentence unlike its source, or the same. */
const FEWEST_COMPARED = 5;
const SHORTEST_STATEMENT = 3;
/** Introduces a list or code. It often says nothing that a source could. */
const LEAD_IN = /:["'”’)*_]*$/;

/** A sentence with its word vectors, in the order of `findContentWords`; null if it was not encoded. */
export interface EncodedSentence extends CitedSentence {
  words: Int8Array | null;
}

/**
 * Decides whether the cited chunks support a sentence, and finds the best match in them. Compares word vectors if the
 * sentence and every chunk have them, else the words themselves.
 */
export function checkSentence(
  sentence: EncodedSentence,
  vectors: ReadonlyMap<string, ChunkWords>,
  question: string,
  limits = CHECK_LIMITS,
): SentenceCheck {
  const { text, chunks, refs, words } = sentence;
  const quote = findQuote(sentence);
  if (quote !== null) return { verdict: 'quoted', reason: null, evidence: quote };
  const isEncoded = words !== null && chunks.every(({ chunkId }) => vectors.has(chunkId));
  const matches = chunks.map((chunk) =>
    isEncoded
      ? matchVectors(words, chunk, vectors.get(chunk.chunkId) as ChunkWords)
      : matchTerms(text, chunk),
  );
  const best = Math.max(...matches.map(({ score }) => score));
  const evidence = findEvidence(matches);
  if (LEAD_IN.test(text)) return { verdict: 'supported', reason: null, evidence };
  const isSimilar =
    findContentWords(text).length < FEWEST_COMPARED ||
    best >= (isEncoded ? limits.similarity : limits.overlap);
  const reason =
    findMissingFact(sentence, question, isEncoded ? matches : null, limits) ??
    findFlippedNegation(sentence) ??
    (isSimilar
      ? null
      : { kind: 'dissimilar' as const, text: `nothing in ${formatRefs(refs)} resembles this` });
  return { verdict: reason === null ? 'supported' : 'unsupported', reason, evidence };
}

/** How well the words of a sentence match a chunk. */
interface ChunkMatch {
  chunk: RetrievedChunk;
  /** The mean over the content words of the sentence of their best match in the chunk. */
  score: number;
  /** The best match of each word. */
  words: Float64Array;
  units: UnitMatch[];
}

interface UnitMatch extends ChunkUnit {
  /** The best match of each word of the sentence in the unit. */
  words: Float64Array;
}

function matchVectors(words: Int8Array, chunk: RetrievedChunk, { text, path }: ChunkWords): ChunkMatch {
  return matchUnits(chunk, bestCosines(words, path), ({ from, to }) =>
    bestCosines(words, text.subarray(from * WORD_DIMENSIONS, to * WORD_DIMENSIONS)),
  );
}

function matchTerms(text: string, chunk: RetrievedChunk): ChunkMatch {
  const terms = findContentWords(text).map(({ term }) => term);
  const findIn = (words: readonly ContentWord[]) => {
    const known = new Set(words.map(({ term }) => term));
    return Float64Array.from(terms, (term) => Number(known.has(term)));
  };
  const path = findContentWords([chunk.title, ...chunk.headings].join('\n'));
  const found = contentWordsOf(chunk.text);
  return matchUnits(chunk, findIn(path), ({ from, to }) => findIn(found.slice(from, to)));
}

function matchUnits(
  chunk: RetrievedChunk,
  inPath: Float64Array,
  matchUnit: (unit: ChunkUnit) => Float64Array,
): ChunkMatch {
  const units = unitsOf(chunk.text).map((unit) => ({ ...unit, words: matchUnit(unit) }));
  const words = units.reduce((best, unit) => maxOf(best, unit.words), inPath);
  return { chunk, score: meanOf(words, 1), words, units };
}

/** How many of the words of a text a chunk has, from 0 to 2: half counts the chunk, half its best unit. */
export function measureOverlap(text: string, chunk: RetrievedChunk): number {
  const { score, units } = matchTerms(text, chunk);
  return score + Math.max(0, ...units.map(({ words }) => meanOf(words, 0)));
}

/**
 * The units of a cited chunk, one or several in a row, that match best. A word counts by the square of its match, so that
 * many vague matches are worth less than a few good ones, and more if some unit matches it better than the others do.
 */
function findEvidence(matches: readonly ChunkMatch[]): SentenceEvidence | null {
  const weights = weighWords(matches.flatMap(({ units }) => units));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const scoreRun = (words: Float64Array, length: number) =>
    words.reduce((sum, value, index) => sum + square(value) * (weights[index] ?? 0), 0) /
      Math.max(total, 1e-9) -
    EVIDENCE_COSTS.length * Math.log2(Math.max(1, length));
  let best = { score: 0, evidence: null as SentenceEvidence | null };
  for (const { chunk, units } of matches) {
    for (const [first, { range, words: own }] of units.entries()) {
      let words = own;
      let length = 0;
      let cost = 0;
      for (const [index, unit] of units.slice(first, first + LONGEST_EVIDENCE).entries()) {
        const before = units[first + index - 1];
        if (index > 0 && before !== undefined) {
          if (before.isCode && !unit.isCode) break;
          words = maxOf(words, unit.words);
          cost += chunk.text.charAt(before.range.end - 1) === ':' ? 0 : EVIDENCE_COSTS.unit;
        }
        length += unit.to - unit.from;
        const score = scoreRun(words, length) - cost;
        if (score > best.score) best = { score, evidence: toEvidence(chunk, range.start, unit.range.end) };
      }
    }
  }
  return best.evidence;
}

function toEvidence({ chunkId, text }: RetrievedChunk, start: number, end: number): SentenceEvidence {
  return { chunkId, start, end, text: text.slice(start, end) };
}

/** How much better than on average the best unit matches each word. */
function weighWords(units: readonly UnitMatch[]): Float64Array {
  const means = new Float64Array(units[0]?.words.length ?? 0);
  const most = new Float64Array(means.length);
  for (const { words } of units) {
    words.forEach((value, index) => {
      means[index] = (means[index] ?? 0) + square(value) / units.length;
      most[index] = Math.max(most[index] ?? 0, square(value));
    });
  }
  return most.map((value, index) => EVIDENCE_COSTS.evenWord + value - (means[index] ?? 0));
}

function square(value: number): number {
  return Math.max(0, value) ** 2;
}

interface ChunkUnit {
  range: TextRange;
  isCode: boolean;
  /** Its content words, by their index in the chunk. */
  from: number;
  to: number;
}

/** The parts of a chunk that can be evidence: sentences, rows and groups of lines of code. */
const unitsOf = memoize({ size: 64 }, (text: string): readonly ChunkUnit[] => {
  const words = contentWordsOf(text);
  const ranges = splitSentencesAndCode(text).flatMap((range) =>
    range.isCode
      ? splitCode(text, findInnerCode(text, range)).map((group) => ({ ...group, isCode: true }))
      : [range],
  );
  let at = 0;
  return ranges.map(({ start, end, isCode = false }) => {
    while (at < words.length && (words[at]?.start ?? 0) < start) at += 1;
    const from = at;
    while (at < words.length && (words[at]?.start ?? 0) < end) at += 1;
    return { range: { start, end }, isCode, from, to: at };
  });
});

const contentWordsOf: (text: string) => readonly ContentWord[] = memoize({ size: 64 }, findContentWords);

/** The groups of lines between blank lines. */
function splitCode(text: string, { start, end }: TextRange): TextRange[] {
  return Array.from(text.slice(start, end).matchAll(/\S[^\n]*(?:\n[^\S\n]*\S[^\n]*)*/g), (group) => ({
    start: start + group.index,
    end: start + group.index + group[0].trimEnd().length,
  }));
}

/** The range of one or more whole units of a chunk that have exactly the words of a sentence, in any case. */
export function findQuote({ text, chunks }: CitedSentence): SentenceEvidence | null {
  const sought = spell(text);
  if (sought === '') return null;
  for (const chunk of chunks) {
    const units = unitsOf(chunk.text).map(({ range }) => ({
      ...range,
      words: spell(chunk.text.slice(range.start, range.end)),
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

/** A number, code, quote or name of the sentence that neither the cited chunks nor the question have. */
function findMissingFact(
  { text, chunks, refs }: CitedSentence,
  question: string,
  matches: readonly ChunkMatch[] | null,
  limits: typeof CHECK_LIMITS,
): FlagReason | null {
  const path = chunks.flatMap((chunk) => [chunk.title, ...chunk.headings]);
  const source = [...path, ...chunks.map((chunk) => chunk.text), question].join('\n');
  const known = [
    ...chunks.map((chunk) => contentWordsOf(chunk.text)),
    findContentWords([...path, question].join('\n')),
  ];
  const terms = new Set(known.flat().map(({ term }) => term));
  const missing: [FlagReason['kind'], string | undefined][] = [
    ['number', findMissingNumbers(text, source)[0]],
    ['code', findMissingCode(text, source)[0]],
    ['quote', findMissingQuotes(text, terms)[0]],
    ['name', matches === null ? undefined : findMissingName(text, source, terms, matches, limits)],
  ];
  const [kind, fact] = missing.find((one) => one[1] !== undefined) ?? [];
  return kind === undefined ? null : { kind, text: `"${fact}" is not in ${formatRefs(refs)}` };
}

/** A name of which no source has a part, nor anything like it. */
function findMissingName(
  text: string,
  source: string,
  terms: ReadonlySet<string>,
  matches: readonly ChunkMatch[],
  { similarName }: typeof CHECK_LIMITS,
): string | undefined {
  const words = findContentWords(text);
  return findClaimedNames(text).find(({ start, phrase }) => {
    const index = words.findIndex((word) => word.start === start);
    const isKnown =
      isAbbreviated(phrase, source) || findContentWords(phrase).some(({ term }) => terms.has(term));
    return !isKnown && matches.every((match) => (match.words[index] ?? 1) < similarName);
  })?.name;
}

/** Whether the sentence denies what a source says in the same words, or says what a source of its length denies. */
function findFlippedNegation({ text, chunks, refs }: CitedSentence): FlagReason | null {
  const length = findContentWords(text).length;
  if (length < SHORTEST_STATEMENT) return null;
  const units = chunks.flatMap((chunk) =>
    matchTerms(text, chunk).units.map(({ range, words, from, to }) => ({
      share: meanOf(words, 0),
      length: to - from,
      text: chunk.text.slice(range.start, range.end),
    })),
  );
  const [best] = units.sort((a, b) => b.share - a.share);
  if (best === undefined || best.share < SAME_STATEMENT || !isOppositeOf(text, best.text)) return null;
  const denies = isNegated(text);
  if (!denies && best.length > LONGEST_DENIAL * length) return null;
  return {
    kind: 'negation',
    text: `${formatRefs(refs)} ${denies ? 'says it without a negation' : 'denies it'}`,
  };
}

function formatRefs(refs: readonly string[]): string {
  return refs.map((ref) => `[${ref}]`).join('');
}

function maxOf(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, index) => Math.max(value, b[index] ?? 0));
}

function meanOf(values: Float64Array, ofNone: number): number {
  return values.length === 0 ? ofNone : values.reduce((sum, value) => sum + value, 0) / values.length;
}
