import { createJudge, placeOf } from '../../src/judge/create-judge.ts';
import { logistic, type Network } from '../../src/judge/network.ts';
import { type PassageFeatures, passageFeatures } from '../../src/judge/passage-features.ts';
import { readText } from '../../src/judge/read-text.ts';
import type { Unit } from '../../src/judge/unit.ts';
import type { TokenEncoder } from '../../src/ports/token-encoder.ts';
import { passageUnits } from '../../src/text/passage-units.ts';
import { calibrate, crossFit, type Example, type FitSettings, fitNetwork } from './fit-network.ts';
import { holdsAnswer, type SearchedQuestion } from './question-sets.ts';

const PASSAGE_FEATURES: (keyof PassageFeatures)[] = [
  'score',
  'rank',
  'passageCosine',
  'placeCosine',
  'unitCosine',
  'wordMean',
  'wordLow',
  'placeWordMean',
  'unitWordMean',
  'unitWordLow',
  'termShare',
  'reverseMean',
  'holdsWhatIsAsked',
  'scoreAhead',
  'wordAhead',
  'unitWordAhead',
  'placeAhead',
  'questionLength',
  'nameMissing',
];

export const SETTINGS: FitSettings = { names: PASSAGE_FEATURES, hidden: 6, penalty: 0.02, members: 3 };
/** The book was written for this project, and asked more plainly than people ask: its questions count less. */
const WEIGHT_OF_BOOK = 0.5;

/** A passage that was found for a question. */
export interface PassageExample {
  features: PassageFeatures;
  right: boolean;
  /** The best unit of it, by `answers`: its place among all that can answer. */
  unit: number | null;
}

/** What the model sees of each passage of each question. */
export async function passageExamples(
  questions: readonly SearchedQuestion[],
  encoder: TokenEncoder,
): Promise<PassageExample[][]> {
  const judge = createJudge(encoder);
  const read = async (text: string) => {
    const [encoded] = await encoder.encodeTokens([text]);
    if (encoded === undefined) throw new Error('the encoder gave nothing back');
    return readText(text, encoded, encoder.dimensions);
  };
  const examples: PassageExample[][] = [];
  for (const question of questions) {
    const units = question.found.map((passage) =>
      passageUnits(passage.text).map((unit): Unit => ({ ...unit, passage })),
    );
    const found = [];
    for (const [index, passage] of question.found.entries()) {
      found.push({
        text: await read(passage.text),
        place: await read(placeOf(passage)),
        rank: index + 1,
        score: passage.score,
        units: units[index] ?? [],
      });
    }
    const features = passageFeatures(await read(question.query), found);
    const ofQuestion: PassageExample[] = [];
    for (const [index, passage] of question.found.entries()) {
      const chances = await judge.answers(question.query, units[index] ?? []);
      ofQuestion.push({
        features: features[index] as PassageFeatures,
        right: holdsAnswer(question, passage.text),
        unit: chances.length === 0 ? null : chances.indexOf(Math.max(...chances)),
      });
    }
    examples.push(ofQuestion);
  }
  return examples;
}

/** Fits on all questions. The chances are those of a model that has not seen the question's set. */
export function fitPassages(
  questions: readonly SearchedQuestion[],
  examples: readonly (readonly PassageExample[])[],
  settings: FitSettings = SETTINGS,
): { network: Network; chances: number[][] } {
  const all = questions.flatMap(({ set }, row) =>
    (examples[row] ?? []).map(
      ({ features, right }): Example => ({
        features: { ...features },
        positive: right,
        weight: set === 'book' ? WEIGHT_OF_BOOK : 1,
      }),
    ),
  );
  const folds = questions.flatMap(({ set }, row) => (examples[row] ?? []).map(() => set));
  const { scores } = crossFit(all, folds, settings);
  const calibration = calibrate(scores, all);
  const chances = scores.map((value) => logistic(calibration.slope * value + calibration.intercept));
  let at = 0;
  return {
    network: { ...fitNetwork(all, settings), calibration },
    chances: examples.map((ofQuestion) => {
      const from = at;
      at += ofQuestion.length;
      return chances.slice(from, at);
    }),
  };
}
