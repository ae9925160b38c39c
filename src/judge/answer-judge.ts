import type { SentenceVerdict } from '../domain/checked-sentence.ts';
import type { TokenEncoder } from '../ports/token-encoder.ts';
import type { TextRange } from '../text/markdown-blocks.ts';
import { alignWords, findBestWindow, type WordAlignment } from './align-words.ts';
import { type ClaimObjection, findObjections, toVerdict } from './claim-verdict.ts';
import { type JudgedPassage, prepareWording } from './facts/evidence.ts';
import { splitWords } from './facts/split-words.ts';
import { type ClaimFacts, verifyFacts } from './facts/verify-facts.ts';
import { type FittedNetwork, logisticFunction, predictChance } from './network.ts';
import { type CandidateUnit, type EncodedPassage, toPassageFeatures } from './passage-features.ts';
import { toSupportFeatures } from './support-features.ts';
import { type TextVectors, toTextVectors, type WordVector } from './text-vectors.ts';
import passagesNetwork from './weights/passages.json' with { type: 'json' };
import supportNetwork from './weights/support.json' with { type: 'json' };

/** Whether passages support a claim. */
export interface ClaimSupport {
  verdict: SentenceVerdict;
  /** The calibrated chance that people would call the claim supported. */
  chance: number;
  /** With any objection the verdict is weak at best. */
  objections: ClaimObjection[];
  /** The sentence that supports the claim most; null if there is none. */
  evidence: (TextRange & { passage: JudgedPassage }) | null;
  /** The words of the claim that no passage supports. */
  unsupportedSpans: TextRange[];
}

/** A search result whose units may answer a question. */
export interface PassageCandidate {
  passage: JudgedPassage;
  /** From 1. */
  rank: number;
  score: number;
  units: readonly CandidateUnit[];
}

export interface CandidateRating {
  /** The calibrated chance that the passage answers the question. */
  chance: number;
  /** The index of the unit that answers best, or -1. */
  bestUnit: number;
}

/** Judges whether passages support claims and answer questions. */
export interface AnswerJudge {
  /** Encodes passages ahead of time, so that later calls find them in the cache. */
  encode(passages: readonly JudgedPassage[], signal?: AbortSignal): Promise<void>;
  /** Whether passages together support a claim, which has no citation markers. */
  checkSupport(
    claim: string,
    passages: readonly JudgedPassage[],
    signal?: AbortSignal,
  ): Promise<ClaimSupport>;
  /** Rates each passage of a search, in the same order. */
  ratePassages(
    question: string,
    candidates: readonly PassageCandidate[],
    signal?: AbortSignal,
  ): Promise<CandidateRating[]>;
}

/** A judge in the thread of its encoder, which can also compare words. */
export interface LocalAnswerJudge extends AnswerJudge {
  /**
   * For each passage, the mean over the words of the question of the best cosine with a word of the passage, from -1 to
   * 1. `weightOf` weights the words by their index terms.
   */
  compareWords(
    question: string,
    passages: readonly JudgedPassage[],
    weightOf: (term: string) => number,
    signal?: AbortSignal,
  ): Promise<number[]>;
}

/** The calibrated chance that at least one of several passages answers. */
export function combineChances(chances: readonly number[]): number {
  const none = chances.reduce((product, chance) => product * (1 - chance), 1);
  const odds = Math.log(Math.max(1 - none, 1e-6) / Math.max(none, 1e-6));
  const { slope, intercept } = passagesNetwork.together;
  return logisticFunction(slope * odds + intercept);
}

/**
 * A word without a word in the passages of at least this cosine is unsupported. Chosen so that at most one in five
 * supported sentences has such a word; decisions/0012 states how many invented words it finds.
 */
const SUPPORTED_WORD_COSINE = 0.35;
/** Each text takes up to a megabyte. */
const CACHED_TEXTS = 60;
/** The chance of a claim that is in a passage word for word. */
export const QUOTED_CHANCE = 0.98;

export function createJudge(encoder: TokenEncoder): LocalAnswerJudge {
  /** The least recently used text comes first. */
  const cache = new Map<string, Promise<TextVectors>>();

  /** Callers share an encoding in progress, so an abort does not stop it. */
  async function encodeText(text: string, signal?: AbortSignal): Promise<TextVectors> {
    signal?.throwIfAborted();
    const encoding = cache.get(text) ?? encodeUncached(text);
    cache.delete(text);
    cache.set(text, encoding);
    const [oldest = ''] = cache.keys();
    if (cache.size > CACHED_TEXTS) cache.delete(oldest);
    try {
      return await encoding;
    } catch (error) {
      if (cache.get(text) === encoding) cache.delete(text);
      throw error;
    }
  }

  async function encodeUncached(text: string): Promise<TextVectors> {
    const [encoded] = await encoder.encodeTokens([text]);
    if (encoded === undefined) throw new Error('the encoder returned no result');
    return toTextVectors(text, encoded, encoder.dimensions);
  }

  const encodePassages = (passages: readonly JudgedPassage[], signal?: AbortSignal) =>
    Promise.all(passages.map(({ text }) => encodeText(text, signal)));

  return {
    async encode(passages, signal) {
      await encodePassages(passages, signal);
    },
    async checkSupport(claim, passages, signal) {
      const quote = findQuote(claim, passages);
      if (quote !== null) return quote;
      const [claimVectors, passageVectors] = await Promise.all([
        encodeText(claim, signal),
        encodePassages(passages, signal),
      ]);
      const facts = verifyFacts(claim, joinPassages(passages));
      return judgeClaim(alignWords(claimVectors, passageVectors), facts, passages);
    },
    async compareWords(question, passages, weightOf, signal) {
      const [asked, encoded] = await Promise.all([
        encodeText(question, signal),
        encodePassages(passages, signal),
      ]);
      return encoded.map((passage) => {
        const { best, content } = alignWords(asked, [passage]);
        const weights = content.map((index) => weightOf(asked.words[index]?.term ?? ''));
        const sum = best.reduce((total, cosine, position) => total + cosine * (weights[position] ?? 0), 0);
        return sum / (weights.reduce((total, weight) => total + weight, 0) || 1);
      });
    },
    async ratePassages(question, candidates, signal) {
      const asked = await encodeText(question, signal);
      const encoded: EncodedPassage[] = [];
      for (const { passage, rank, score, units } of candidates) {
        const text = await encodeText(passage.text, signal);
        const path = await encodeText(formatPassagePath(passage), signal);
        encoded.push({ text, path, rank, score, units });
      }
      return toPassageFeatures(asked, encoded).map(({ features, bestUnit }) => ({
        chance: predictChance(passagesNetwork, { ...features }),
        bestUnit,
      }));
    },
  };
}

/** Title and headings in one line, as a search indexes them. */
export function formatPassagePath({ title, headings }: JudgedPassage): string {
  return [title, ...headings.filter((heading) => heading !== title)]
    .filter((part) => part !== '')
    .join(' > ');
}

/** Finds a claim that is in a passage word for word, without encoding it. */
function findQuote(claim: string, passages: readonly JudgedPassage[]): ClaimSupport | null {
  const words = splitWords(claim);
  for (const passage of passages) {
    const found = prepareWording(passage).findWhole(words);
    if (found === null) continue;
    const evidence = { passage, ...found };
    return { verdict: 'quoted', chance: QUOTED_CHANCE, objections: [], evidence, unsupportedSpans: [] };
  }
  return null;
}

/** Judges a claim that is aligned with its passages. */
export function judgeClaim(
  alignment: WordAlignment,
  facts: ClaimFacts,
  passages: readonly JudgedPassage[],
  network: FittedNetwork = supportNetwork,
): ClaimSupport {
  const { claim, content, best, sentences } = alignment;
  if (content.length === 0 || sentences.length === 0) {
    return { verdict: 'weak', chance: 0, objections: [], evidence: null, unsupportedSpans: [] };
  }
  const objections = findObjections(facts);
  const chance = predictChance(network, { ...toSupportFeatures(alignment, facts) });
  const middle = sentences[findBestWindow(alignment).at];
  const passage = passages[middle?.passage ?? 0];
  const range = alignment.passages[middle?.passage ?? 0]?.sentences[middle?.index ?? 0];
  const terms = new Set(alignment.passages.flatMap(({ words }) => words.map(({ term }) => term)));
  const unsupportedSpans = content.flatMap((index, position): TextRange[] => {
    const word = claim.words[index];
    if (word === undefined || facts.isVerbatim || terms.has(word.term)) return [];
    const isSimilar = (best[position] ?? 0) >= SUPPORTED_WORD_COSINE;
    return isSimilar && !isMissing(word, claim.text, facts) ? [] : [{ start: word.start, end: word.end }];
  });
  return {
    verdict: toVerdict(chance, facts, objections),
    chance: facts.isVerbatim ? Math.max(chance, QUOTED_CHANCE) : chance,
    objections: facts.isVerbatim ? [] : objections,
    evidence:
      passage === undefined || range === undefined ? null : { passage, start: range.start, end: range.end },
    unsupportedSpans,
  };
}

/** Whether a word is a name or number that no passage contains, however similar another word is. */
function isMissing({ start, end, isNumber }: WordVector, text: string, { missing }: ClaimFacts): boolean {
  const written = text.slice(start, end);
  return isNumber ? missing.numbers.includes(written.replaceAll(',', '')) : missing.names.includes(written);
}

function joinPassages(passages: readonly JudgedPassage[]): JudgedPassage {
  const [only] = passages;
  if (only !== undefined && passages.length === 1) return only;
  return {
    text: passages.map(({ text }) => text).join('\n\n'),
    title: passages.map(({ title }) => title).join('\n'),
    headings: passages.flatMap(({ headings }) => headings),
  };
}
