import {
  type FittedNetwork,
  logisticFunction,
  type NetworkMember,
  scoreFeatures,
  scoreMember,
} from '../../src/judge/network.ts';
import { minimize } from './minimize.ts';

export interface Example {
  features: Readonly<Record<string, number>>;
  positive: boolean;
  weight: number;
}

export interface FitSettings {
  names: readonly string[];
  hidden: number;
  /** The L2 penalty. */
  penalty: number;
  members: number;
  /**
   * Inputs with fixed signs whose plain sum counts as much as the network. It is not fitted, so it generalizes to other
   * kinds of text.
   */
  plain?: Readonly<Record<string, 1 | -1>>;
}

/** The penalty of the skip connection, relative to the others. */
const DIRECT_PENALTY = 0.3;
const MOST_STEPS = 250;

/** Fits a network without calibration. Deterministic. */
export function fitNetwork(examples: readonly Example[], settings: FitSettings): FittedNetwork {
  const { names, members } = settings;
  const inputs = names.map((name) => {
    const values = examples.map(({ features }) => features[name] ?? 0);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const square = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    return { name, mean: rounded(mean), deviation: Math.max(0.001, rounded(Math.sqrt(square))) };
  });
  const columns = examples.map(({ features }) =>
    inputs.map(({ name, mean, deviation }) =>
      Math.max(-4, Math.min(4, ((features[name] ?? 0) - mean) / deviation)),
    ),
  );
  const total = examples.reduce((sum, { weight }) => sum + weight, 0);
  const weights = examples.map(({ weight }) => weight / total);
  const goals = examples.map(({ positive }) => Number(positive));
  return {
    inputs,
    members: Array.from({ length: members }, (_, seed) =>
      besidePlainSum(fitMember(columns, goals, weights, settings, seed), columns, settings),
    ),
    calibration: { slope: 1, intercept: 0 },
  };
}

/** Adds the plain sum to the skip connection. */
function besidePlainSum(
  member: NetworkMember,
  rows: readonly number[][],
  { names, plain = {} }: FitSettings,
): NetworkMember {
  const signs = names.map((name) => plain[name] ?? 0);
  const sums = rows.map((row) => row.reduce((sum, value, index) => sum + value * (signs[index] ?? 0), 0));
  if (signs.every((sign) => sign === 0)) return member;
  const share = deviation(rows.map((row) => scoreMember(member, row))) / deviation(sums);
  const direct = member.direct.map((weight, index) => rounded(weight + share * (signs[index] ?? 0)));
  return { ...member, direct };
}

function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

function fitMember(
  rows: readonly number[][],
  goals: readonly number[],
  weights: readonly number[],
  { hidden, penalty }: FitSettings,
  seed: number,
): NetworkMember {
  const width = rows[0]?.length ?? 0;
  const perUnit = width + 1;
  const outputAt = hidden * perUnit;
  const directAt = outputAt + hidden;
  const biasAt = directAt + width;
  const flat = Float64Array.from(rows.flat());
  const random = createRandom(seed + 1);
  const start = Float64Array.from({ length: biasAt + 1 }, (_, index) =>
    index < directAt ? 0.3 * random() : 0,
  );
  const units = new Float64Array(hidden);

  /** The loss and its gradient. */
  function evaluate(at: Float64Array, slope: Float64Array): number {
    slope.fill(0);
    let loss = 0;
    for (let row = 0; row < goals.length; row += 1) {
      const from = row * width;
      let value = at[biasAt] as number;
      for (let i = 0; i < width; i += 1) value += (at[directAt + i] as number) * (flat[from + i] as number);
      for (let unit = 0; unit < hidden; unit += 1) {
        const own = unit * perUnit;
        let sum = at[own + width] as number;
        for (let i = 0; i < width; i += 1) sum += (at[own + i] as number) * (flat[from + i] as number);
        units[unit] = Math.tanh(sum);
        value += (at[outputAt + unit] as number) * (units[unit] as number);
      }
      const weight = weights[row] as number;
      const goal = goals[row] as number;
      loss += weight * (Math.max(value, 0) - value * goal + Math.log1p(Math.exp(-Math.abs(value))));
      const error = weight * (logisticFunction(value) - goal);
      slope[biasAt] = (slope[biasAt] as number) + error;
      for (let i = 0; i < width; i += 1) {
        slope[directAt + i] = (slope[directAt + i] as number) + error * (flat[from + i] as number);
      }
      for (let unit = 0; unit < hidden; unit += 1) {
        const said = units[unit] as number;
        slope[outputAt + unit] = (slope[outputAt + unit] as number) + error * said;
        const back = error * (at[outputAt + unit] as number) * (1 - said * said);
        const own = unit * perUnit;
        for (let i = 0; i < width; i += 1) {
          slope[own + i] = (slope[own + i] as number) + back * (flat[from + i] as number);
        }
        slope[own + width] = (slope[own + width] as number) + back;
      }
    }
    for (let i = 0; i < biasAt; i += 1) {
      const ofUnit = i < outputAt && i % perUnit === width;
      const cost = ofUnit ? 0 : i < directAt ? penalty : penalty * DIRECT_PENALTY;
      const value = at[i] as number;
      loss += cost * value * value;
      slope[i] = (slope[i] as number) + 2 * cost * value;
    }
    return loss;
  }

  const found = Array.from(minimize(evaluate, start, MOST_STEPS), rounded);
  return {
    hidden: Array.from({ length: hidden }, (_, unit) => found.slice(unit * perUnit, (unit + 1) * perUnit)),
    output: found.slice(outputAt, directAt),
    direct: found.slice(directAt, biasAt),
    bias: found[biasAt] ?? 0,
  };
}

/** Platt scaling, fitted on scores of examples that the network has not seen. */
export function calibrate(
  scores: readonly number[],
  examples: readonly Pick<Example, 'positive' | 'weight'>[],
): FittedNetwork['calibration'] {
  const total = examples.reduce((sum, { weight }) => sum + weight, 0);
  const [slope = 1, intercept = 0] = minimize(
    (at, down) => {
      const [slope = 1, intercept = 0] = at;
      down.fill(0);
      let loss = 0;
      examples.forEach(({ positive, weight }, index) => {
        const value = slope * (scores[index] ?? 0) + intercept;
        const share = weight / total;
        loss +=
          share * (Math.max(value, 0) - value * Number(positive) + Math.log1p(Math.exp(-Math.abs(value))));
        const error = share * (logisticFunction(value) - Number(positive));
        down[0] = (down[0] ?? 0) + error * (scores[index] ?? 0);
        down[1] = (down[1] ?? 0) + error;
      });
      return loss;
    },
    Float64Array.of(1, 0),
    200,
  );
  return { slope: rounded(slope), intercept: rounded(intercept) };
}

export interface CrossFit {
  /** The score of each example by the network that was fitted without its fold. */
  scores: number[];
  /** By fold, not calibrated. */
  networks: Map<string, FittedNetwork>;
}

export function crossFit(
  examples: readonly Example[],
  folds: readonly string[],
  settings: FitSettings,
): CrossFit {
  const scores = new Array<number>(examples.length).fill(0);
  const networks = new Map<string, FittedNetwork>();
  for (const fold of new Set(folds)) {
    const network = fitNetwork(
      examples.filter(({ weight }, index) => folds[index] !== fold && weight > 0),
      settings,
    );
    networks.set(fold, network);
    examples.forEach(({ features }, index) => {
      if (folds[index] === fold) scores[index] = scoreFeatures(network, features);
    });
  }
  return { scores, networks };
}

function rounded(value: number): number {
  return Number(value.toFixed(3));
}

/** Deterministic random numbers from -1 to 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed * 0x9e3779b1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
}
