import { dotProduct } from '../domain/unit-vectors.ts';
import { indexTerms } from '../text/terms.ts';
import { align, mean, quantile } from './align.ts';
import { missingNames } from './missing-names.ts';
import { holdsWhatIsAsked, questionKind } from './question-kind.ts';
import { pooled, type ReadText, type ReadWord } from './read-text.ts';
import type { Unit } from './unit.ts';

/** A passage as a search found it, read. */
export interface ReadPassage {
  text: ReadText;
  /** Its title and headings as one text. */
  place: ReadText;
  /** From 1, and from 0 to 1, as the search has it. */
  rank: number;
  score: number;
  /** What of it is taken to answer: all that can, or what an answer cites. */
  units: readonly Unit[];
}

/** What a model is told of a question and a passage among others. Cosines and shares unless said otherwise. */
export interface PassageFeatures {
  score: number;
  /** The logarithm, the first highest. */
  rank: number;
  /** The question with the passage, with its title and headings, with its best unit. */
  passageCosine: number;
  placeCosine: number;
  unitCosine: number;
  /** The content words of the question, each with the nearest word of the passage or its place. */
  wordMean: number;
  wordLow: number;
  /** The same with the nearest word of the place alone, and of the best unit or the place. */
  placeWordMean: number;
  unitWordMean: number;
  unitWordLow: number;
  /** Content words of the question that the passage or its place has. */
  termShare: number;
  /** The words of the passage with the nearest word of the question. */
  reverseMean: number;
  /** Whether a unit holds what is asked for; one half where that cannot be seen. */
  holdsWhatIsAsked: number;
  /** How far it is above the best of the others. */
  scoreAhead: number;
  wordAhead: number;
  unitWordAhead: number;
  placeAhead: number;
  /** The logarithm of the number of content words in the question. */
  questionLength: number;
  /** 1 if the question names something that none of the passages does. */
  nameMissing: number;
}

const LOW = 0.2;
/** A word of the question that meets no word at all. */
const NONE = -0.2;

/** For each passage that was found for a question, in order. */
export function passageFeatures(question: ReadText, passages: readonly ReadPassage[]): PassageFeatures[] {
  const asked = questionKind(question.text);
  const said = new Set(question.words.flatMap(({ term }) => term ?? []));
  const held = passages.flatMap(({ text, place }) => [...indexTerms(text.text), ...indexTerms(place.text)]);
  const nameMissing = Number(missingNames(question.text, new Set(held)).length > 0);
  const seen = passages.map(({ text, place, rank, score, units }) => {
    const { content, cosines } = align(question, [text, place]);
    const [inText = new Float32Array(), inPlace = new Float32Array()] = cosines;
    const ofPlace = nearest(content, inPlace, place.words, () => true);
    const orPlace = (best: readonly number[]) =>
      best.map((cosine, index) => Math.max(cosine, ofPlace[index] ?? NONE));
    const best = orPlace(nearest(content, inText, text.words, () => true));
    const ofUnits = units.map((unit) =>
      orPlace(nearest(content, inText, text.words, (word) => isIn(word, unit))),
    );
    const terms = new Set([...text.words, ...place.words].map(({ term }) => term));
    const columns = text.words.length;
    const reverse = text.words.flatMap(({ term }, column) =>
      term === null
        ? []
        : [question.words.reduce((most, _, row) => Math.max(most, inText[row * columns + column] ?? -1), -1)],
    );
    return {
      score,
      rank: -Math.log(rank),
      passageCosine: dotProduct(question.vector, text.vector),
      placeCosine: place.words.length === 0 ? 0 : dotProduct(question.vector, place.vector),
      unitCosine: most(units.map((unit) => dotProduct(question.vector, pooled(text, unit)))),
      wordMean: mean(best),
      wordLow: quantile(best, LOW),
      placeWordMean: mean(ofPlace),
      unitWordMean: most(ofUnits.map(mean)),
      unitWordLow: most(ofUnits.map((one) => quantile(one, LOW))),
      termShare: mean(content.map((row) => Number(terms.has(question.words[row]?.term ?? '')))),
      reverseMean: mean(reverse),
      holdsWhatIsAsked: most(
        units.map((unit) =>
          holdsWhatIsAsked(asked, {
            kind: unit.kind,
            text: text.text.slice(unit.start, unit.end),
            newNames: text.words.filter((word) => word.name && isIn(word, unit) && !said.has(word.term ?? ''))
              .length,
          }),
        ),
      ),
      questionLength: Math.log(content.length + 1),
      nameMissing,
    };
  });
  type Seen = (typeof seen)[number];
  const ahead = (index: number, of: (one: Seen) => number) => {
    const others = seen.filter((_, other) => other !== index).map(of);
    return others.length === 0 ? 0 : of(seen[index] as Seen) - Math.max(...others);
  };
  return seen.map((one, index) => ({
    ...one,
    scoreAhead: ahead(index, ({ score }) => score),
    wordAhead: ahead(index, ({ wordMean }) => wordMean),
    unitWordAhead: ahead(index, ({ unitWordMean }) => unitWordMean),
    placeAhead: ahead(index, ({ placeCosine }) => placeCosine),
  }));
}

function nearest(
  content: readonly number[],
  cosines: Float32Array,
  words: readonly ReadWord[],
  counts: (word: ReadWord) => boolean,
): number[] {
  const columns = words.flatMap((word, column) => (counts(word) ? [column] : []));
  return content.map((row) =>
    columns.reduce((most, column) => Math.max(most, cosines[row * words.length + column] ?? NONE), NONE),
  );
}

/** Of none, nothing. */
function most(values: readonly number[]): number {
  return values.length === 0 ? 0 : Math.max(...values);
}

function isIn(word: ReadWord, { start, end, leadIn }: Unit): boolean {
  if (word.start >= start && word.start < end) return true;
  return leadIn !== null && word.start >= leadIn.start && word.start < leadIn.end;
}
