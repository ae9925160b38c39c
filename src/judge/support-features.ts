import { dotProduct } from '../domain/unit-vectors.ts';
import { memoizeByObject } from '../text/memoize.ts';
import {
  alignPhrases,
  findBestWindow,
  meanOf,
  quantileOf,
  reverseMean,
  type WordAlignment,
} from './align-words.ts';
import { NEGATION_WORDS } from './facts/negation.ts';
import type { ClaimFacts } from './facts/verify-facts.ts';
import type { TextVectors, WordVector } from './text-vectors.ts';

const LOW_QUANTILE = 0.2;
const MAX_COUNT = 3;

export type SupportFeatures = ReturnType<typeof toSupportFeatures>;

/** The inputs of the support network. Cosines and shares unless said otherwise. */
export function toSupportFeatures(alignment: WordAlignment, facts: ClaimFacts) {
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
    /** The content words of the claim, each with the most similar word of the best window. */
    windowMean: meanOf(window.best),
    /** Runs of three content words within one sentence. */
    tripleLeast: Math.min(...triples),
    tripleLow: quantileOf(triples, LOW_QUANTILE),
    /** Phrases of three and of six words with the most similar phrase of the same length. */
    phrase3Mean: meanOf(alignPhrases(alignment, 3)),
    phrase6Mean: meanOf(phrases6),
    phrase6Low: quantileOf(phrases6, LOW_QUANTILE),
    /** The claim with the most similar sentence, and with the most similar passage. */
    sentenceCosine: Math.max(0, ...sentences.map(({ cosine }) => cosine)),
    textCosine: Math.max(0, ...passages.map(({ vector }) => dotProduct(claim.vector, vector))),
    /** Content words that the passages, the best window and the best clauses have. */
    termShare: meanOf(isKnownTerm.map(Number)),
    windowTermShare: meanOf(content.map((index) => Number(nearTerms.has(claim.words[index]?.term ?? '')))),
    clauseShare: facts.share,
    pairShare: pairs.length === 0 ? meanOf(isKnownTerm.map(Number)) : meanOf(isKnownPair.map(Number)),
    /** 1 for each content word that the passages have, its best cosine for any other. */
    softMean: meanOf(best.map((cosine, position) => (isKnownTerm[position] ? 1 : Math.max(0, cosine)))),
    reverseMean: middle === undefined ? 0 : reverseMean(alignment, middle.passage, middle.index),
    sameWordMean: meanOf(best.filter((_, position) => isKnownTerm[position])),
    otherWordMean: isKnownTerm.every(Boolean)
      ? 1
      : meanOf(best.filter((_, position) => !isKnownTerm[position])),
    /** Counts. */
    namesMissing: Math.min(MAX_COUNT, facts.missing.names.length),
    numbersMissing: Math.min(MAX_COUNT, facts.missing.numbers.length),
    numbersFar: Math.min(MAX_COUNT, facts.numbersFar),
    contradicts: Number(facts.contradicts),
    negationDiffers: Number(isNegated !== isSourceNegated),
    /** The longest run of words in no known pair, and of content words that the passages lack. */
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

const termsOf = memoizeByObject((text: TextVectors) => new Set(text.words.flatMap(({ term }) => term ?? [])));
const pairSetOf = memoizeByObject((text: TextVectors) => new Set(pairsOf(text.words)));

function pairsOf(words: readonly WordVector[]): string[] {
  const name = ({ term, lower }: WordVector) => term ?? lower;
  return words.slice(1).map((word, index) => `${name(words[index] ?? word)} ${name(word)}`);
}
