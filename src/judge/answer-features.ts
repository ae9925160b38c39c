import { dotProduct } from '../domain/unit-vectors.ts';
import { indexTerms } from '../text/terms.ts';
import { align, mean, quantile } from './align.ts';
import { holdsWhatIsAsked, questionKind } from './question-kind.ts';
import { pooled, type ReadText, type ReadWord } from './read-text.ts';
import type { Unit } from './unit.ts';

/** What a model is told of a question and a part of a passage. Cosines and shares unless said otherwise. */
export interface AnswerFeatures {
  /** The question with the unit, with the whole passage, with the unit before it. */
  unitCosine: number;
  passageCosine: number;
  beforeCosine: number;
  /** The best of any unit of the passage, and how far this one is above their mean. */
  bestCosine: number;
  cosineAboveMean: number;
  /** The content words of the question, each with the nearest word of the unit. */
  wordMean: number;
  wordLow: number;
  wordLeast: number;
  wordAboveMean: number;
  /** The same with the nearest word of the passage. */
  passageWordMean: number;
  /** The same for those words of the question that title and headings do not have. */
  restMean: number;
  /** Content words of the question that the unit has; of those that title and headings do not have. */
  termShare: number;
  restTermShare: number;
  /** The words of the unit with the nearest word of the question. */
  reverseMean: number;
  /** Logarithms of numbers of words: of the unit, of its words that are not in the question, of the question. */
  length: number;
  newLength: number;
  questionLength: number;
  /** Whether it holds what is asked for; one half where that cannot be seen. */
  holdsWhatIsAsked: number;
}

const LOW = 0.2;

/** For each unit of one passage, in order. */
export function answerFeatures(
  question: ReadText,
  passage: ReadText,
  units: readonly Unit[],
): AnswerFeatures[] {
  const alignment = align(question, [passage]);
  const { content } = alignment;
  const cosines = alignment.cosines[0] ?? new Float32Array();
  const columns = passage.words.length;
  const asked = questionKind(question.text);
  const said = new Set(question.words.flatMap(({ term }) => term ?? []));
  const nearest = (rows: readonly number[], within: readonly number[]) =>
    rows.map((row) =>
      within.reduce((most, column) => Math.max(most, cosines[row * columns + column] ?? -1), NONE),
    );

  const seen = units.map((unit) => {
    const inside = passage.words.flatMap((word, column) => (isIn(word, unit) ? [column] : []));
    const words = inside.map((column) => passage.words[column] as ReadWord);
    return {
      unit,
      words,
      cosine: dotProduct(question.vector, pooled(passage, unit)),
      best: nearest(content, inside),
      reverse: inside
        .filter((column) => passage.words[column]?.term !== null)
        .map((column) =>
          question.words.reduce((most, _, row) => Math.max(most, cosines[row * columns + column] ?? -1), -1),
        ),
    };
  });
  const everywhere = nearest(
    content,
    passage.words.map((_, column) => column),
  );
  const meanCosine = mean(seen.map(({ cosine }) => cosine));
  const meanWords = mean(seen.map(({ best }) => mean(best)));

  return seen.map(({ unit, words, cosine, best, reverse }, index) => {
    const place = new Set(indexTerms([unit.passage.title, ...unit.passage.headings].join('\n')));
    const terms = new Set(words.map(({ term }) => term));
    const held = content.map((row) => Number(terms.has(question.words[row]?.term ?? '')));
    const isRest = content.map((row) => !place.has(question.words[row]?.term ?? ''));
    const rest = best.filter((_, position) => isRest[position]);
    const newWords = words.filter(({ term }) => term !== null && !said.has(term));
    return {
      unitCosine: cosine,
      passageCosine: dotProduct(question.vector, passage.vector),
      beforeCosine: seen[index - 1]?.cosine ?? 0,
      bestCosine: Math.max(...seen.map((one) => one.cosine)),
      cosineAboveMean: cosine - meanCosine,
      wordMean: mean(best),
      wordLow: quantile(best, LOW),
      wordLeast: Math.min(...best, 1),
      wordAboveMean: mean(best) - meanWords,
      passageWordMean: mean(everywhere),
      restMean: rest.length === 0 ? mean(best) : mean(rest),
      termShare: mean(held),
      restTermShare: rest.length === 0 ? mean(held) : mean(held.filter((_, position) => isRest[position])),
      reverseMean: mean(reverse),
      length: Math.log(words.length + 1),
      newLength: Math.log(newWords.length + 1),
      questionLength: Math.log(content.length + 1),
      holdsWhatIsAsked: holdsWhatIsAsked(asked, {
        kind: unit.kind,
        text: passage.text.slice(unit.start, unit.end),
        newNames: newWords.filter(({ name }) => name).length,
      }),
    };
  });
}

/** A word of the question that meets no word at all. */
const NONE = -0.2;

function isIn(word: ReadWord, { start, end, leadIn }: Unit): boolean {
  if (word.start >= start && word.start < end) return true;
  return leadIn !== null && word.start >= leadIn.start && word.start < leadIn.end;
}
