import { dotProduct } from '../domain/unit-vectors.ts';
import { type Alignment, alignPhrases, bestWindow, mean, quantile } from './align.ts';
import { NEGATION_WORDS } from './facts/negation.ts';
import type { ClaimFacts } from './facts/verify-facts.ts';
import type { ReadText, ReadWord } from './read-text.ts';

/** What a model is told of a claim and the passages that are to bear it out. Cosines and shares unless said otherwise. */
export interface SupportFeatures {
  /** The content words of the claim, each with the nearest word of one sentence and its neighbours: their mean. */
  windowMean: number;
  /** Three content words in a row, all in one sentence: the lowest, and the lower quintile. */
  tripleLeast: number;
  tripleLow: number;
  /** Runs of three and of six words with the nearest run of as many. */
  phrase3Mean: number;
  phrase6Mean: number;
  phrase6Low: number;
  /** The claim with the nearest sentence, and with the nearest passage. */
  sentenceCosine: number;
  textCosine: number;
  /** Content words that the passages have, that the best window has, that the best clauses have. */
  termShare: number;
  windowTermShare: number;
  clauseShare: number;
  /** Pairs of neighbouring words that stand in the passages just so. */
  pairShare: number;
  /** 1 for each content word that the passages have, its best cosine for any other. */
  softMean: number;
  /** The words of the best sentence with the nearest words of the claim. */
  reverseMean: number;
  /** The best cosines of content words that the passages have, and of those that they do not have. */
  sameWordMean: number;
  otherWordMean: number;
  /** Numbers of them, three at most. */
  namesMissing: number;
  numbersMissing: number;
  numbersFar: number;
  /** 1 if it is so. */
  contradicts: number;
  negationDiffers: number;
  /** The longest run of words in no pair of the passages, and of content words that they do not have, as shares of all. */
  longestNewRun: number;
  longestMissingRun: number;
  /** The logarithm of the number of content words. */
  length: number;
}

const LOW = 0.2;
const MOST_COUNTED = 3;

export function supportFeatures(alignment: Alignment, facts: ClaimFacts): SupportFeatures {
  const { claim, passages, content, sentences, best } = alignment;
  const window = bestWindow(alignment);
  const middle = sentences[window.at];
  const near = sentences
    .slice(Math.max(0, window.at - 1), window.at + 2)
    .filter(({ passage }) => passage === middle?.passage);
  const terms = new Set(passages.flatMap((passage) => [...termsOf(passage)]));
  const nearTerms = new Set(
    near.flatMap(({ passage, index }) => wordsOfSentence(passages[passage], index).map(({ term }) => term)),
  );
  const has = content.map((index) => terms.has(claim.words[index]?.term ?? ''));
  const triples = runsWithinSentences(alignment, 3);
  const phrases6 = alignPhrases(alignment, 6);
  const pairs = pairsOf(claim.words);
  const known = pairs.map((pair) => passages.some((passage) => pairSetOf(passage).has(pair)));
  const newWords = claim.words.map((_, index) => !known[index - 1] && !known[index]);
  const negated = claim.words.some(({ lower }) => NEGATION_WORDS.has(lower));
  const negatedThere =
    middle !== undefined &&
    wordsOfSentence(passages[middle.passage], middle.index).some(({ lower }) => NEGATION_WORDS.has(lower));

  return {
    windowMean: mean(window.best),
    tripleLeast: Math.min(...triples),
    tripleLow: quantile(triples, LOW),
    phrase3Mean: mean(alignPhrases(alignment, 3)),
    phrase6Mean: mean(phrases6),
    phrase6Low: quantile(phrases6, LOW),
    sentenceCosine: Math.max(0, ...sentences.map(({ cosine }) => cosine)),
    textCosine: Math.max(0, ...passages.map(({ vector }) => dotProduct(claim.vector, vector))),
    termShare: mean(has.map(Number)),
    windowTermShare: mean(content.map((index) => Number(nearTerms.has(claim.words[index]?.term ?? '')))),
    clauseShare: facts.share,
    pairShare: pairs.length === 0 ? mean(has.map(Number)) : mean(known.map(Number)),
    softMean: mean(best.map((cosine, position) => (has[position] ? 1 : Math.max(0, cosine)))),
    reverseMean: middle === undefined ? 0 : reverseMean(alignment, middle.passage, middle.index),
    sameWordMean: mean(best.filter((_, position) => has[position])),
    otherWordMean: has.every(Boolean) ? 1 : mean(best.filter((_, position) => !has[position])),
    namesMissing: Math.min(MOST_COUNTED, facts.missing.names.length),
    numbersMissing: Math.min(MOST_COUNTED, facts.missing.numbers.length),
    numbersFar: Math.min(MOST_COUNTED, facts.numbersFar),
    contradicts: Number(facts.contradicts),
    negationDiffers: Number(negated !== negatedThere),
    longestNewRun: longestRun(newWords) / Math.max(1, claim.words.length),
    longestMissingRun: longestRun(has.map((held) => !held)) / Math.max(1, content.length),
    length: Math.log(content.length + 1),
  };
}

/** For each run of content words, the best mean that one sentence gives it. */
function runsWithinSentences({ sentences, content, best }: Alignment, size: number): number[] {
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

function reverseMean({ claim, passages, cosines }: Alignment, passage: number, sentence: number): number {
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
  return mean(nearest);
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

function wordsOfSentence(passage: ReadText | undefined, sentence: number): ReadWord[] {
  return passage?.words.filter((word) => word.sentence === sentence) ?? [];
}

const termsOf = oncePerText((text) => new Set(text.words.flatMap(({ term }) => term ?? [])));
const pairSetOf = oncePerText((text) => new Set(pairsOf(text.words)));

function pairsOf(words: readonly ReadWord[]): string[] {
  const name = ({ term, lower }: ReadWord) => term ?? lower;
  return words.slice(1).map((word, index) => `${name(words[index] ?? word)} ${name(word)}`);
}

function oncePerText<T>(make: (text: ReadText) => T): (text: ReadText) => T {
  const made = new WeakMap<ReadText, T>();
  return (text) => {
    const before = made.get(text);
    if (before !== undefined) return before;
    const value = make(text);
    made.set(text, value);
    return value;
  };
}
