import { dotProduct } from '../domain/unit-vectors.ts';
import { alignPhrases, findBestWindow, meanOf, quantileOf, type WordAlignment } from './align-words.ts';
import { NEGATION_WORDS } from './facts/negation.ts';
import type { ClaimFacts } from './facts/verify-facts.ts';
import type { TextVectors, WordVector } from './text-vectors.ts';

/** The inputs of the support network. Cosines and shares unless said otherwise. */
export interface SupportFeatures {
  /** The content words of the claim, each with the most similar word of the best window. */
  windowMean: number;
  /** Runs of three content words within one sentence: the lowest, and the lower quintile. */
  tripleLeast: number;
  tripleLow: number;
  /** Phrases of three and of six words with the most similar phrase of the same length. */
  phrase3Mean: number;
  phrase6Mean: number;
  phrase6Low: number;
  /** The claim with the most similar sentence, and with the most similar passage. */
  sentenceCosine: number;
  textCosine: number;
  /** Content words that the passages have, that the best window has, that the best clauses have. */
  termShare: number;
  windowTermShare: number;
  clauseShare: number;
  /** Pairs of neighbouring words that the passages have. */
  pairShare: number;
  /** 1 for each content word that the passages have, its best cosine for any other. */
  softMean: number;
  /** The words of the best sentence with the most similar words of the claim. */
  reverseMean: number;
  /** The best cosines of content words that the passages have, and of those that they do not have. */
  sameWordMean: number;
  otherWordMean: number;
  /** Counts, three at most. */
  namesMissing: number;
  numbersMissing: number;
  numbersFar: number;
  /** 0 or 1. */
  contradicts: number;
  negationDiffers: number;
  /** The longest run of words in no known pair, and of content words that the passages lack, as shares of all words. */
  longestNewRun: number;
  longestMissingRun: number;
  /** The logarithm of the number of content words. */
  length: number;
}

const LOW_QUANTILE = 0.2;
const MAX_COUNT = 3;

export function toSupportFeatures(alignment: WordAlignment, facts: ClaimFacts): SupportFeatures {
  const { claim, passages, content, sentences, best } = alignment;
  const window = findBestWindow(alignment);
  const middle = sentences[window.at];
  const near = sentences
    .slice(Math.max(0, window.at - 1), window.at + 2)
    .filter(({ passage }) => passage === middle?.passage);
  const terms = new Set(passages.flatMap((passage) => [...termsOf(passage)]));
  const nearTerms = new Set(
    near.flatMap(({ passage, index }) => wordsOfSentence(passages[passage], index).map(({ term }) => term)),
  );
  const isKnownTerm = content.map((index) => terms.has(claim.words[index]?.term ?? ''));
  const triples = runCosines(alignment, 3);
  const phrases6 = alignPhrases(alignment, 6);
  const pairs = pairsOf(claim.words);
  const isKnownPair = pairs.map((pair) => passages.some((passage) => pairSetOf(passage).has(pair)));
  const newWords = claim.words.map((_, index) => !isKnownPair[index - 1] && !isKnownPair[index]);
  const isNegated = claim.words.some(({ lower }) => NEGATION_WORDS.has(lower));
  const isSourceNegated =
    middle !== undefined &&
    wordsOfSentence(passages[middle.passage], middle.index).some(({ lower }) => NEGATION_WORDS.has(lower));

  return {
    windowMean: meanOf(window.best),
    tripleLeast: Math.min(...triples),
    tripleLow: quantileOf(triples, LOW_QUANTILE),
    phrase3Mean: meanOf(alignPhrases(alignment, 3)),
    phrase6Mean: meanOf(phrases6),
    phrase6Low: quantileOf(phrases6, LOW_QUANTILE),
    sentenceCosine: Math.max(0, ...sentences.map(({ cosine }) => cosine)),
    textCosine: Math.max(0, ...passages.map(({ vector }) => dotProduct(claim.vector, vector))),
    termShare: meanOf(isKnownTerm.map(Number)),
    windowTermShare: meanOf(content.map((index) => Number(nearTerms.has(claim.words[index]?.term ?? '')))),
    clauseShare: facts.share,
    pairShare: pairs.length === 0 ? meanOf(isKnownTerm.map(Number)) : meanOf(isKnownPair.map(Number)),
    softMean: meanOf(best.map((cosine, position) => (isKnownTerm[position] ? 1 : Math.max(0, cosine)))),
    reverseMean: middle === undefined ? 0 : reverseMean(alignment, middle.passage, middle.index),
    sameWordMean: meanOf(best.filter((_, position) => isKnownTerm[position])),
    otherWordMean: isKnownTerm.every(Boolean)
      ? 1
      : meanOf(best.filter((_, position) => !isKnownTerm[position])),
    namesMissing: Math.min(MAX_COUNT, facts.missing.names.length),
    numbersMissing: Math.min(MAX_COUNT, facts.missing.numbers.length),
    numbersFar: Math.min(MAX_COUNT, facts.numbersFar),
    contradicts: Number(facts.contradicts),
    negationDiffers: Number(isNegated !== isSourceNegated),
    longestNewRun: longestRun(newWords) / Math.max(1, claim.words.length),
    longestMissingRun: longestRun(isKnownTerm.map((known) => !known)) / Math.max(1, content.length),
    length: Math.log(content.length + 1),
  };
}

/** For each run of content words, the best mean cosine within one sentence. */
function runCosines({ sentences, content, best }: WordAlignment, size: number): number[] {
  const length = Math.min(size, content.length);
  const runs = content.slice(length - 1).map((_, start) => {
    let most = -1;
    for (const sentence of sentences) {
      let sum = 0;
      for (let at = start; at < start + length; at += 1) sum += sentence.best[at] ?? -1;
      most = Math.max(most, sum / length);
    }
    return most;
  });
  return runs.length > 0 ? runs : [...best, 0];
}

function reverseMean({ claim, passages, cosines }: WordAlignment, passage: number, sentence: number): number {
  const words = passages[passage]?.words ?? [];
  const found = cosines[passage];
  const nearest = words.flatMap((word, column) => {
    if (word.sentence !== sentence || word.term === null) return [];
    let most = -1;
    for (let row = 0; row < claim.words.length; row += 1) {
      most = Math.max(most, found?.[row * words.length + column] ?? -1);
    }
    return [most];
  });
  return meanOf(nearest);
}

function longestRun(flags: readonly boolean[]): number {
  let longest = 0;
  let run = 0;
  for (const flag of flags) {
    run = flag ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

function wordsOfSentence(passage: TextVectors | undefined, sentence: number): WordVector[] {
  return passage?.words.filter((word) => word.sentence === sentence) ?? [];
}

const termsOf = memoizeByText((text) => new Set(text.words.flatMap(({ term }) => term ?? [])));
const pairSetOf = memoizeByText((text) => new Set(pairsOf(text.words)));

function pairsOf(words: readonly WordVector[]): string[] {
  const name = ({ term, lower }: WordVector) => term ?? lower;
  return words.slice(1).map((word, index) => `${name(words[index] ?? word)} ${name(word)}`);
}

function memoizeByText<T>(compute: (text: TextVectors) => T): (text: TextVectors) => T {
  const cache = new WeakMap<TextVectors, T>();
  return (text) => {
    const cached = cache.get(text);
    if (cached !== undefined) return cached;
    const value = compute(text);
    cache.set(text, value);
    return value;
  };
}
