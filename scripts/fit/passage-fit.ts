import { tellUnit } from '../../src/adapters/offline/tell-passage.ts';
import { createJudge, placeOf } from '../../src/judge/create-judge.ts';
import { logistic, type Network, score } from '../../src/judge/network.ts';
import { type PassageFeatures, passageFeatures } from '../../src/judge/passage-features.ts';
import { readText } from '../../src/judge/read-text.ts';
import type { Unit } from '../../src/judge/unit.ts';
import type { TokenEncoder } from '../../src/ports/token-encoder.ts';
import { passageUnits } from '../../src/text/passage-units.ts';
import { calibrate, crossFit, type Example, type FitSettings, fitNetwork } from './fit-network.ts';
import { holdsAnswer, type SearchedQuestion } from './question-sets.ts';

export const PASSAGE_FEATURES: (keyof PassageFeatures)[] = [
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
];

const SETTINGS: FitSettings = { names: PASSAGE_FEATURES, hidden: 4, penalty: 0.01, members: 3 };

/** What is known of a passage that was found for a question. */
export interface PassageExample {
  features: PassageFeatures;
  /** Whether it holds the answer, whole, and as far as an answer tells it: as the first, and as the second of two. */
  right: boolean;
  toldAlone: boolean;
  toldFirst: boolean;
  toldSecond: boolean;
}
