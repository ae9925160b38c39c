import { dotProduct } from '../domain/unit-vectors.ts';
import type { PassageUnit } from '../text/passage-units.ts';
import { indexTerms } from '../text/terms.ts';
import { alignWords, meanOf, quantileOf, reverseMean } from './align-words.ts';
import { classifyQuestion, hasAnswerKind, hasMissingName } from './question-analysis.ts';
import { poolVector, type TextVectors, type WordVector } from './text-vectors.ts';

/** A part of a passage that may answer a question. */
export type CandidateUnit = Pick<PassageUnit, 'start' | 'end' | 'kind' | 'leadIn'>;

/** An encoded search result. */
export interface EncodedPassage {
  text: TextVectors;
  /** Its title and headings as one text. */
  path: TextVectors;
  /** From 1. */
  rank: number;
  /** From 0 to 1. */
  score: number;
  units: readonly CandidateUnit[];
}

/** The inputs of the passage network. Cosines and shares unless said otherwise. */
export type PassageFeatures = ReturnType<typeof toPassageFeatures>[number]['features'];

const LOW_QUANTILE = 0.2;
/** The cosine of a word without any word to compare with. */
const NO_WORD = -0.2;
/** The weight of the cosine of a unit beside that of its words, when the best unit is chosen. */
const UNIT_COSINE_WEIGHT = 0.5;

/** The features of each passage, in order, and the index of the unit that is most similar to the question. */
export function toPassageFeatures(question: TextVectors, passages: readonly EncodedPassage[]) {
  const asked = classifyQuestion(question.text);
  const questionTerms = new Set(question.words.flatMap(({ term }) => term ?? []));
  const terms = passages.flatMap(({ text, path }) => [...indexTerms(text.text), ...indexTerms(path.text)]);
  const nameMissing = Number(hasMissingName(question.text, new Set(terms)));
  const seen = passages.map(({ text, path, rank, score, units }) => {
    const alignment = alignWords(question, [text, path]);
    const { content, cosines } = alignment;
    const [inText = new Float32Array(), inPath = new Float32Array()] = cosines;
    const pathBest = bestCosines(content, inPath, path.words);
    const orPath = (best: readonly number[]) =>
      best.map((cosine, index) => Math.max(cosine, pathBest[index] ?? NO_WORD));
    const best = orPath(bestCosines(content, inText, text.words));
    const unitBest = units.map((unit) =>
      bestCosines(content, inText, text.words, (word) => isInUnit(word, unit)),
    );
    const unitCosines = units.map((unit) => dotProduct(question.vector, poolVector(text, unit)));
    const unitScores = unitBest.map(
      (cosines, index) => meanOf(cosines) + UNIT_COSINE_WEIGHT * (unitCosines[index] ?? 0),
    );
    const passageTerms = new Set([...text.words, ...path.words].map(({ term }) => term));
    const answerKinds = units.map((unit) => {
      const newNames = text.words.filter(
        (word) => word.isName && isInUnit(word, unit) && !questionTerms.has(word.term ?? ''),
      ).length;
      return hasAnswerKind(asked, {
        kind: unit.kind,
        text: text.text.slice(unit.start, unit.end),
        newNames,
      });
    });
    return {
      bestUnit: unitScores.indexOf(Math.max(...unitScores)),
      score,
      rank: -Math.log(rank),
      passageCosine: dotProduct(question.vector, text.vector),
      placeCosine: path.words.length === 0 ? 0 : dotProduct(question.vector, path.vector),
      unitCosine: maxOf(unitCosines),
      /** The content words of the question, each with the most similar word of the passage or its path. */
      wordMean: meanOf(best),
      wordLow: quantileOf(best, LOW_QUANTILE),
      /** The same with the path alone, and with the best unit or the path. */
      placeWordMean: meanOf(pathBest),
      unitWordMean: maxOf(unitBest.map((cosines) => meanOf(orPath(cosines)))),
      unitWordLow: maxOf(unitBest.map((cosines) => quantileOf(orPath(cosines), LOW_QUANTILE))),
      termShare: meanOf(content.map((row) => Number(passageTerms.has(question.words[row]?.term ?? '')))),
      reverseMean: reverseMean(alignment, 0),
      /** Whether a unit contains the kind of answer that is asked for; 0.5 if that cannot be seen. */
      holdsWhatIsAsked: maxOf(answerKinds),
      questionLength: Math.log(content.length + 1),
      nameMissing,
    };
  });
  type Seen = (typeof seen)[number];
  const lead = (index: number, pick: (one: Seen) => number) => {
    const others = seen.filter((_, other) => other !== index).map(pick);
    return others.length === 0 ? 0 : pick(seen[index] as Seen) - Math.max(...others);
  };
  return seen.map(({ bestUnit, ...features }, index) => ({
    bestUnit,
    features: {
      ...features,
      /** The lead over the best of the other passages. */
      scoreAhead: lead(index, ({ score }) => score),
      wordAhead: lead(index, ({ wordMean }) => wordMean),
      unitWordAhead: lead(index, ({ unitWordMean }) => unitWordMean),
      placeAhead: lead(index, ({ placeCosine }) => placeCosine),
    },
  }));
}

/** For each content word of the question, the best cosine with a word that `isIncluded`. */
function bestCosines(
  content: readonly number[],
  cosines: Float32Array,
  words: readonly WordVector[],
  isIncluded: (word: WordVector) => boolean = () => true,
): number[] {
  const columns = words.flatMap((word, column) => (isIncluded(word) ? [column] : []));
  return content.map((row) =>
    columns.reduce(
      (most, column) => Math.max(most, cosines[row * words.length + column] ?? NO_WORD),
      NO_WORD,
    ),
  );
}

/** The largest value; 0 of no values. */
function maxOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : Math.max(...values);
}

function isInUnit(word: WordVector, { start, end, leadIn }: CandidateUnit): boolean {
  if (word.start >= start && word.start < end) return true;
  return leadIn !== null && word.start >= leadIn.start && word.start < leadIn.end;
}
