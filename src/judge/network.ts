/** A model of a few hundred numbers, as it is kept in a file. */
export interface Network {
  /** What it is told, in this order, and what is usual there. */
  inputs: { name: string; mean: number; deviation: number }[];
  /** Several that were fitted from different beginnings; their mean counts. */
  members: Member[];
  /** Takes what they say to a chance. */
  calibration: { slope: number; intercept: number };
}

/** One hidden layer, and a straight way past it. */
export interface Member {
  /** For each hidden unit, a weight for every input and a last one for what it says of its own accord. */
  hidden: number[][];
  output: number[];
  direct: number[];
  bias: number;
}

/** Values further from the mean than so many deviations say no more. */
const FURTHEST = 4;

/** The chance, from 0 to 1, that what these features describe is so. */
export function predict(network: Network, features: Readonly<Record<string, number>>): number {
  const { slope, intercept } = network.calibration;
  return logistic(slope * score(network, features) + intercept);
}

/** The same before it is calibrated, on a scale without bounds. */
export function score({ inputs, members }: Network, features: Readonly<Record<string, number>>): number {
  const values = inputs.map(({ name, mean, deviation }) => {
    const value = features[name];
    if (value === undefined) throw new Error(`the features lack ${name}`);
    return Math.max(-FURTHEST, Math.min(FURTHEST, (value - mean) / deviation));
  });
  const said = members.map((member) => memberScore(member, values));
  return said.reduce((sum, value) => sum + value, 0) / Math.max(1, said.length);
}

/** What one of them says of values that are given in deviations from the mean. */
export function memberScore({ hidden, output, direct, bias }: Member, values: readonly number[]): number {
  const units = hidden.map((weights) => Math.tanh(product(weights, values) + (weights[values.length] ?? 0)));
  return bias + product(direct, values) + product(output, units);
}

export function logistic(value: number): number {
  return 1 / (1 + Math.exp(-value));
}

function product(weights: readonly number[], values: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) sum += (weights[i] ?? 0) * (values[i] ?? 0);
  return sum;
}
