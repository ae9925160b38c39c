import { type FittedNetwork, logisticFunction } from '../../src/judge/network.ts';
import type { SupportFeatures } from '../../src/judge/support-features.ts';
import { calibrate, crossFit, type Example, type FitSettings, fitNetwork } from './fit-network.ts';
import { foldOf } from './folds.ts';
import type { SupportRow, SupportSet } from './support-sets.ts';

export const FEATURES: (keyof SupportFeatures)[] = [
  'windowMean',
  'tripleLeast',
  'tripleLow',
  'phrase3Mean',
  'phrase6Mean',
  'phrase6Low',
  'sentenceCosine',
  'textCosine',
  'termShare',
  'windowTermShare',
  'clauseShare',
  'pairShare',
  'softMean',
  'reverseMean',
  'sameWordMean',
  'otherWordMean',
  'namesMissing',
  'numbersMissing',
  'numbersFar',
  'contradicts',
  'negationDiffers',
  'longestNewRun',
  'longestMissingRun',
  'length',
];

export const SETTINGS: FitSettings = {
  names: FEATURES,
  hidden: 8,
  penalty: 0.004,
  members: 3,
  plain: {
    windowMean: 1,
    phrase3Mean: 1,
    phrase6Mean: 1,
    phrase6Low: 1,
    sentenceCosine: 1,
    softMean: 1,
    namesMissing: -1,
    numbersMissing: -1,
  },
};

/** The weight of each set. Sets that resemble answers with sources weigh more. */
const SHARES: Record<SupportSet, number> = {
  attributionbench_dev: 1.5,
  ragtruth_summary: 1,
  wice_dev: 0.7,
  begin_dev: 0.6,
  healthver_dev: 0.4,
};

/** Weights that balance the supported and other rows of each set. */
export function supportWeights(rows: readonly SupportRow[], shares = SHARES): number[] {
  const counts = new Map<string, number>();
  const kind = ({ set, supported }: SupportRow) => `${set} ${supported}`;
  for (const row of rows) counts.set(kind(row), (counts.get(kind(row)) ?? 0) + 1);
  return rows.map((row) => shares[row.set] / (counts.get(kind(row)) ?? 1));
}

const EVENLY: Record<SupportSet, number> = {
  attributionbench_dev: 1,
  ragtruth_summary: 1,
  wice_dev: 1,
  begin_dev: 1,
  healthver_dev: 1,
};

/** Cross-validated fits, computed on demand. */
export interface SupportFit {
  /** Fitted on all rows. */
  network(): FittedNetwork;
  /** The chance of each row by a model without its fold. */
  byFold: number[];
  /** The same without its source. */
  bySource(): number[];
  /** The same without its file. */
  byFile(): number[];
  /** The calibrated networks by the fold they were fitted without. */
  ofFolds: Map<string, FittedNetwork>;
  /** The weight of each row if all sets weigh the same. */
  evenly: number[];
}

const FOLDS = 5;

export function supportFold({ group }: Pick<SupportRow, 'group'>): string {
  return foldOf(group, FOLDS);
}

/**
 * Contradicted rows are excluded from the fit, because similarity cannot distinguish them from supported ones. They are
 * part of every measurement.
 */
export function fitSupport(rows: readonly SupportRow[], features: readonly SupportFeatures[]): SupportFit {
  const weights = supportWeights(rows);
  const examples = rows.map(
    (row, index): Example => ({
      features: { ...(features[index] as SupportFeatures) },
      positive: row.supported,
      weight: row.label === 'contradicted' ? 0 : (weights[index] ?? 0),
    }),
  );
  const evenly = supportWeights(rows, EVENLY);
  const counted = examples.map((example, index) => ({ ...example, weight: evenly[index] ?? 0 }));
  const folds = rows.map(supportFold);
  const { scores, networks } = crossFit(examples, folds, SETTINGS);
  const calibratedWithout = (parts: readonly string[], part: string) => {
    const others = rows.map((_, index) => index).filter((index) => parts[index] !== part);
    return calibrate(
      others.map((index) => scores[index] ?? 0),
      others.map((index) => counted[index] as Example),
    );
  };
  /** Each fold is calibrated on the other folds. */
  const chancesOf = (held: readonly number[], parts: readonly string[]) => {
    const chances = new Array<number>(held.length);
    for (const part of new Set(parts)) {
      const { slope, intercept } = calibratedWithout(parts, part);
      held.forEach((score, index) => {
        if (parts[index] === part) chances[index] = logisticFunction(slope * score + intercept);
      });
    }
    return chances;
  };
  const without = (partOf: (row: SupportRow) => string) => {
    const parts = rows.map(partOf);
    return chancesOf(crossFit(examples, parts, SETTINGS).scores, parts);
  };
  return {
    network: () => ({
      ...fitNetwork(
        examples.filter(({ weight }) => weight > 0),
        SETTINGS,
      ),
      calibration: calibrate(scores, counted),
    }),
    byFold: chancesOf(scores, folds),
    bySource: () => without(({ source }) => source),
    byFile: () => without(({ set }) => set),
    ofFolds: new Map(
      Array.from(networks, ([fold, ofFold]) => [
        fold,
        { ...ofFold, calibration: calibratedWithout(folds, fold) },
      ]),
    ),
    evenly,
  };
}
