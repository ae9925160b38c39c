import { formatPassagePath } from '../../src/judge/answer-judge.ts';
import { type FittedNetwork, logisticFunction } from '../../src/judge/network.ts';
import { type PassageFeatures, toPassageFeatures } from '../../src/judge/passage-features.ts';
import { toTextVectors } from '../../src/judge/text-vectors.ts';
import type { TokenEncoder } from '../../src/ports/token-encoder.ts';
import { splitPassageUnits } from '../../src/text/passage-units.ts';
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
/** The questions about the sample book count less, since they are plainer than those of users. */
const WEIGHT_OF_BOOK = 0.5;

/** A search result with its label. */
export interface PassageExample {
  features: PassageFeatures;
  right: boolean;
  /** The index of its best unit, or -1. */
  unit: number;
}

/** The features of each passage of each question. */
export async function passageExamples(
  questions: readonly SearchedQuestion[],
  encoder: TokenEncoder,
): Promise<PassageExample[][]> {
  const encode = async (text: string) => {
    const [encoded] = await encoder.encodeTokens([text]);
    if (encoded === undefined) throw new Error('the encoder returned no result');
    return toTextVectors(text, encoded, encoder.dimensions);
  };
  const examples: PassageExample[][] = [];
  for (const question of questions) {
    const found = [];
    for (const [index, passage] of question.found.entries()) {
      found.push({
        text: await encode(passage.text),
        path: await encode(formatPassagePath(passage)),
        rank: index + 1,
        score: passage.score,
        units: splitPassageUnits(passage.text),
      });
    }
    const rated = toPassageFeatures(await encode(question.query), found);
    examples.push(
      rated.map(({ features, bestUnit }, index) => ({
        features,
        right: holdsAnswer(question, question.found[index]?.text ?? ''),
        unit: bestUnit,
      })),
    );
  }
  return examples;
}

/** Fits on all questions. Each chance comes from a model that has not seen the set of its question. */
export function fitPassages(
  questions: readonly SearchedQuestion[],
  examples: readonly (readonly PassageExample[])[],
  settings: FitSettings = SETTINGS,
): { network: FittedNetwork; chances: number[][] } {
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
  const chances = scores.map((value) => logisticFunction(calibration.slope * value + calibration.intercept));
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
