import type { SentenceVerdict } from '../domain/checked-sentence.ts';
import type { TokenEncoder } from '../ports/token-encoder.ts';
import type { Range } from '../text/markdown-blocks.ts';
import { type Alignment, align, bestWindow } from './align.ts';
import { answerFeatures } from './answer-features.ts';
import { findObjections, type Objection, toVerdict } from './claim-verdict.ts';
import { wordingOf } from './facts/evidence.ts';
import { type ClaimFacts, verifyFacts } from './facts/verify-facts.ts';
import { writtenWordsOf } from './facts/words.ts';
import { logistic, type Network, predict } from './network.ts';
import { passageFeatures, type ReadPassage } from './passage-features.ts';
import { type ReadText, type ReadWord, readText } from './read-text.ts';
import { supportFeatures } from './support-features.ts';
import type { JudgedPassage, Unit } from './unit.ts';
import answersNetwork from './weights/answers.json' with { type: 'json' };
import passagesNetwork from './weights/passages.json' with { type: 'json' };
import supportNetwork from './weights/support.json' with { type: 'json' };

/** Whether passages support a claim. */
export interface Support {
  verdict: SentenceVerdict;
  /** The calibrated chance that people would call the claim supported. */
  chance: number;
  /** With any objection the verdict is weak at best. */
  objections: Objection[];
  /** The sentence that supports the claim most; null if there is none. */
  evidence: (Range & { passage: JudgedPassage }) | null;
  /** The words of the claim that nothing bears out. */
  unsupportedSpans: Range[];
}

/** Judges whether passages support claims and answer questions. */
export interface Judge {
  /** Encodes passages ahead of time, so that later calls find them in the cache. */
  read(passages: readonly JudgedPassage[], signal?: AbortSignal): Promise<void>;
  /** Whether passages together support a claim, which has no citation markers. */
  support(claim: string, passages: readonly JudgedPassage[], signal?: AbortSignal): Promise<Support>;
  /** For each unit, the calibrated chance that it answers the question. */
  answers(question: string, units: readonly Unit[], signal?: AbortSignal): Promise<number[]>;
  /** For each passage, the calibrated chance that it answers the question. */
  passages(question: string, found: readonly FoundPassage[], signal?: AbortSignal): Promise<number[]>;
}

/** A judge in the thread of its encoder, which can also compare words. */
export interface ReadingJudge extends Judge {
  /**
   * For each passage, the mean over the words of the question of the best cosine with a word of the passage, from -1 to
   * 1. `weightOf` weights the words by their index terms.
   */
  nearness(
    question: string,
    passages: readonly JudgedPassage[],
    weightOf: (term: string) => number,
    signal?: AbortSignal,
  ): Promise<number[]>;
}

/** A search result. */
export interface FoundPassage {
  passage: JudgedPassage;
  /** From 1. */
  rank: number;
  score: number;
  /** The units that may answer. */
  units: readonly Unit[];
}

/** The calibrated chance that at least one of several passages answers. */
export function chanceOfAny(chances: readonly number[]): number {
  const none = chances.reduce((product, chance) => product * (1 - chance), 1);
  const odds = Math.log(Math.max(1 - none, 1e-6) / Math.max(none, 1e-6));
  const { slope, intercept } = passagesNetwork.together;
  return logistic(slope * odds + intercept);
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

export function createJudge(encoder: TokenEncoder): ReadingJudge {
  /** The least recently used text comes first. */
  const cache = new Map<string, Promise<ReadText>>();

  /** Callers share an encoding in progress, so an abort does not stop it. */
  async function readOne(text: string, signal?: AbortSignal): Promise<ReadText> {
    signal?.throwIfAborted();
    const reading = cache.get(text) ?? encodeOne(text);
    cache.delete(text);
    cache.set(text, reading);
    const [oldest = ''] = cache.keys();
    if (cache.size > CACHED_TEXTS) cache.delete(oldest);
    try {
      return await reading;
    } catch (error) {
      if (cache.get(text) === reading) cache.delete(text);
      throw error;
    }
  }

  async function encodeOne(text: string): Promise<ReadText> {
    const [encoded] = await encoder.encodeTokens([text]);
    if (encoded === undefined) throw new Error('the encoder returned no result');
    return readText(text, encoded, encoder.dimensions);
  }

  const readAll = (passages: readonly JudgedPassage[], signal?: AbortSignal) =>
    Promise.all(passages.map(({ text }) => readOne(text, signal)));

  return {
    async read(passages, signal) {
      await readAll(passages, signal);
    },
    async support(claim, passages, signal) {
      const quote = findQuote(claim, passages);
      if (quote !== null) return quote;
      const [said, read] = await Promise.all([readOne(claim, signal), readAll(passages, signal)]);
      return judgeSupport(align(said, read), verifyFacts(claim, joinPassages(passages)), passages);
    },
    async nearness(question, passages, weightOf, signal) {
      const [asked, read] = await Promise.all([readOne(question, signal), readAll(passages, signal)]);
      return read.map((passage) => {
        const { best, content } = align(asked, [passage]);
        const weights = content.map((index) => weightOf(asked.words[index]?.term ?? ''));
        const sum = best.reduce((total, cosine, position) => total + cosine * (weights[position] ?? 0), 0);
        return sum / (weights.reduce((total, weight) => total + weight, 0) || 1);
      });
    },
    async answers(question, units, signal) {
      const asked = await readOne(question, signal);
      const chances = new Map<Unit, number>();
      for (const [passage, ofPassage] of Map.groupBy(units, (unit) => unit.passage)) {
        const features = answerFeatures(asked, await readOne(passage.text, signal), ofPassage);
        ofPassage.forEach((unit, index) => {
          const seen = features[index];
          if (seen !== undefined) chances.set(unit, predict(answersNetwork, { ...seen }));
        });
      }
      return units.map((unit) => chances.get(unit) ?? 0);
    },
    async passages(question, found, signal) {
      const asked = await readOne(question, signal);
      const read: ReadPassage[] = [];
      for (const { passage, rank, score, units } of found) {
        const text = await readOne(passage.text, signal);
        read.push({ text, place: await readOne(placeOf(passage), signal), rank, score, units });
      }
      return passageFeatures(asked, read).map((seen) => predict(passagesNetwork, { ...seen }));
    },
  };
}

/** Title and headings in one line, as a search indexes them. */
export function placeOf({ title, headings }: JudgedPassage): string {
  return [title, ...headings.filter((heading) => heading !== title)]
    .filter((part) => part !== '')
    .join(' > ');
}

/** Finds a claim that is in a passage word for word, without encoding it. */
function findQuote(claim: string, passages: readonly JudgedPassage[]): Support | null {
  const words = writtenWordsOf(claim);
  for (const passage of passages) {
    const found = wordingOf(passage).findWhole(words);
    if (found === null) continue;
    const evidence = { passage, ...found };
    return { verdict: 'quoted', chance: QUOTED_CHANCE, objections: [], evidence, unsupportedSpans: [] };
  }
  return null;
}

/** The verdict on encoded texts. */
export function judgeSupport(
  alignment: Alignment,
  facts: ClaimFacts,
  passages: readonly JudgedPassage[],
  network: Network = supportNetwork,
): Support {
  const { claim, content, best, sentences } = alignment;
  if (content.length === 0 || sentences.length === 0) {
    return { verdict: 'weak', chance: 0, objections: [], evidence: null, unsupportedSpans: [] };
  }
  const objections = findObjections(facts);
  const chance = predict(network, { ...supportFeatures(alignment, facts) });
  const middle = sentences[bestWindow(alignment).at];
  const passage = passages[middle?.passage ?? 0];
  const range = alignment.passages[middle?.passage ?? 0]?.sentences[middle?.index ?? 0];
  const terms = new Set(alignment.passages.flatMap(({ words }) => words.map(({ term }) => term)));
  const unsupportedSpans = content.flatMap((index, position): Range[] => {
    const word = claim.words[index];
    if (word === undefined || facts.isVerbatim || terms.has(word.term)) return [];
    const isSupported = (best[position] ?? 0) >= SUPPORTED_WORD_COSINE && !isMissing(word, claim.text, facts);
    return isSupported ? [] : [{ start: word.start, end: word.end }];
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
function isMissing({ start, end, number }: ReadWord, text: string, { missing }: ClaimFacts): boolean {
  const written = text.slice(start, end);
  return number ? missing.numbers.includes(written.replaceAll(',', '')) : missing.names.includes(written);
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
