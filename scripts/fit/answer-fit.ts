import type { AnswerFeatures } from '../../src/judge/answer-features.ts';
import { logistic, type Network } from '../../src/judge/network.ts';
import type { AnswerRow } from './answer-sets.ts';
import { calibrate, crossFit, type Example, type FitSettings, fitNetwork } from './fit-network.ts';
import { foldOf } from './folds.ts';

export const ANSWER_FEATURES: (keyof AnswerFeatures)[] = [
  'unitCosine',
  'passageCosine',
  'beforeCosine',
  'bestCosine',
  'cosineAboveMean',
  'wordMean',
  'wordLow',
  'wordLeast',
  'wordAboveMean',
  'passageWordMean',
  'restMean',
  'termShare',
  'restTermShare',
  'reverseMean',
  'length',
  'newLength',
  'questionLength',
  'holdsWhatIsAsked',
];

const SETTINGS: FitSettings = { names: ANSWER_FEATURES, hidden: 6, penalty: 0.004, members: 3 };

/** The chance of each sentence of each question, by a model that was fitted without the question's fold. */
export interface AnswerValidation {
  byFold: number[][];
  /** On one half, by a model fitted on the other. */
  byHalf: number[][];
}

export function fitAnswers(
  rows: readonly AnswerRow[],
  features: readonly (readonly AnswerFeatures[])[],
): { network: Network; validation: AnswerValidation } {
  const examples = rows.flatMap(({ selected }, row) =>
    (features[row] ?? []).map(
      (seen, index): Example => ({ features: { ...seen }, positive: selected.includes(index), weight: 1 }),
    ),
  );
  const spread = (ofRow: (row: AnswerRow) => string) =>
    rows.flatMap((row, index) => (features[index] ?? []).map(() => ofRow(row)));
  const validate = (folds: string[]) => {
    const { scores } = crossFit(examples, folds, SETTINGS);
    const { slope, intercept } = calibrate(scores, examples);
    const chances = scores.map((score) => logistic(slope * score + intercept));
    let at = 0;
    return {
      calibration: { slope, intercept },
      chances: rows.map((_, row) => {
        const from = at;
        at += features[row]?.length ?? 0;
        return chances.slice(from, at);
      }),
    };
  };
  const byFold = validate(spread(({ id }) => foldOf(id, 5)));
  const byHalf = validate(spread(({ id }) => foldOf(`half ${id}`, 2)));
  return {
    network: { ...fitNetwork(examples, SETTINGS), calibration: byFold.calibration },
    validation: { byFold: byFold.chances, byHalf: byHalf.chances },
  };
}
