import { dotProduct } from '../domain/unit-vectors.ts';

/** A small neural network with its weights. */
export interface FittedNetwork {
  /** The features in order, with their mean and standard deviation. */
  inputs: { name: string; mean: number; deviation: number }[];
  /** Fitted from different starting points; their mean is the score. */
  members: NetworkMember[];
  /** Platt scaling of the score to a chance. */
  calibration: { slope: number; intercept: number };
}

/** One hidden layer plus a skip connection. */
export interface NetworkMember {
  /** For each hidden unit, a weight for every input and a bias. */
  hidden: number[][];
  output: number[];
  direct: number[];
  bias: number;
}

/** Inputs are clipped to this many standard deviations. */
const MAX_DEVIATIONS = 4;

/** The calibrated chance, from 0 to 1, for some features. */
export function predictChance(network: FittedNetwork, features: Readonly<Record<string, number>>): number {
  const { slope, intercept } = network.calibration;
  return logisticFunction(slope * scoreFeatures(network, features) + intercept);
}

/** The score before calibration. Throws if a feature is missing. */
export function scoreFeatures(
  { inputs, members }: FittedNetwork,
  features: Readonly<Record<string, number>>,
): number {
  const values = inputs.map(({ name, mean, deviation }) => {
    const value = features[name];
    if (value === undefined) throw new Error(`missing feature: ${name}`);
    return Math.max(-MAX_DEVIATIONS, Math.min(MAX_DEVIATIONS, (value - mean) / deviation));
  });
  const scores = members.map((member) => scoreMember(member, values));
  return scores.reduce((sum, value) => sum + value, 0) / Math.max(1, scores.length);
}

/** The score of one member for standardized inputs. */
export function scoreMember(
  { hidden, output, direct, bias }: NetworkMember,
  values: readonly number[],
): number {
  const units = hidden.map((weights) =>
    Math.tanh(dotProduct(values, weights) + (weights[values.length] ?? 0)),
  );
  return bias + dotProduct(values, direct) + dotProduct(units, output);
}

export function logisticFunction(value: number): number {
  return 1 / (1 + Math.exp(-value));
}
