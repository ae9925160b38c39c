import type { MetricComparison } from '../report/comparison.ts';
import { type Column, ratioOf, total } from './column.ts';

/**
 * The exact two-sided p of McNemar's test: how likely a split of the discordant pairs at least as uneven is if
 * either side were as likely. Pairs that agree say nothing. Summed in logarithms, so that thousands do not underflow.
 */
export function exactMcNemar(onlyFirst: number, onlySecond: number): number {
  const discordant = onlyFirst + onlySecond;
  const fewer = Math.min(onlyFirst, onlySecond);
  if (discordant === 0 || onlyFirst === onlySecond) return 1;
  let logTerm = -discordant * Math.LN2;
  let tail = Math.exp(logTerm);
  for (let count = 1; count <= fewer; count += 1) {
    logTerm += Math.log((discordant - count + 1) / count);
    tail += Math.exp(logTerm);
  }
  return Math.min(1, 2 * tail);
}

/**
 * Holm's step-down correction: p values that may be judged one by one although there are several. Those of more
 * weight are given more of the error that all of them may have together. In the order given.
 */
export function holm(ps: readonly number[], weights: readonly number[] = ps.map(() => 1)): number[] {
  const ratio = (index: number) => (ps[index] ?? 1) / (weights[index] ?? 1);
  const order = ps.map((_, index) => index).sort((a, b) => ratio(a) - ratio(b));
  const adjusted = new Array<number>(ps.length).fill(1);
  let left = weights.reduce((sum, weight) => sum + weight, 0);
  let largest = 0;
  for (const index of order) {
    largest = Math.max(largest, Math.min(1, left * ratio(index)));
    // Rounding in the weights must not make it smaller than it was.
    adjusted[index] = Math.max(largest, ps[index] ?? 1);
    left -= weights[index] ?? 1;
  }
  return adjusted;
}

const Z = 1.959963984540054;

/** The 95 % interval of a share. Unlike the bootstrap it knows that 20 of 20 does not prove 100 %. */
export function wilsonInterval(share: number, n: number): [number, number] {
  const z2 = Z * Z;
  const centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
  // At the ends the bound is exact; rounding must not push it past the value.
  return [share === 0 ? 0 : Math.max(0, centre - half), share === 1 ? 1 : Math.min(1, centre + half)];
}

type Effect = MetricComparison['effect'];

/** Cohen's g: how far the discordant pairs are from an even split, -0.5 to 0.5; null if every pair agrees. */
export function effectOfDiscordant(onlyArm: number, onlyBaseline: number): Effect {
  const discordant = onlyArm + onlyBaseline;
  if (discordant === 0) return { name: 'g', value: null, size: 'none' };
  const share = onlyArm / discordant;
  const [low, high] = wilsonInterval(share, discordant);
  return { name: 'g', value: share - 0.5, size: sizeOf([low - 0.5, high - 0.5], [0.05, 0.15, 0.25]) };
}

/**
 * Cohen's d of the paired differences: their mean by their standard deviation. A case's share in a ratio is taken
 * as what it moves the ratio by, which for a mean is its own value. Null if the differences do not vary.
 */
export function effectOfDifferences(arm: Column, baseline: Column): Effect {
  const { spread, n } = spreadOfDifferences(arm, baseline);
  const difference = ratioOf(arm) - ratioOf(baseline);
  // Rounding leaves a hair of spread where there is none: then the same holds on every case.
  if (spread < 1e-9)
    return { name: 'd', value: null, size: Math.abs(difference) < 1e-9 ? 'none' : 'unclear' };
  const value = difference / spread;
  const half = Z * Math.sqrt(1 / n + value ** 2 / (2 * n));
  return { name: 'd', value, size: sizeOf([value - half, value + half], [0.2, 0.5, 0.8]) };
}

/** The standard deviation of what the cases add to the difference, and how many have a part in it. */
export function spreadOfDifferences(arm: Column, baseline: Column): { spread: number; n: number } {
  const used = Array.from(arm.of.keys()).filter((index) => hasPart(arm, index) || hasPart(baseline, index));
  const ofArm = influences(arm, used);
  const ofBaseline = influences(baseline, used);
  const squares = used.reduce((sum, _, at) => sum + ((ofArm[at] ?? 0) - (ofBaseline[at] ?? 0)) ** 2, 0);
  return { spread: Math.sqrt(squares / Math.max(1, used.length - 1)), n: used.length };
}

function hasPart({ sum, of }: Column, index: number): boolean {
  return (sum[index] ?? 0) !== 0 || (of[index] ?? 0) !== 0;
}

function influences(column: Column, used: readonly number[]): number[] {
  const ratio = ratioOf(column);
  const mean = total(column.of) / used.length;
  return used.map((index) => ((column.sum[index] ?? 0) - ratio * (column.of[index] ?? 0)) / mean);
}

/** By Cohen's conventional bounds, of what the interval leaves of it at least; unclear where it may be either way. */
function sizeOf(
  [low, high]: readonly [number, number],
  [small, medium, large]: readonly [number, number, number],
): Effect['size'] {
  if (low > -small && high < small) return 'none';
  const strength = low <= 0 && high >= 0 ? 0 : Math.min(Math.abs(low), Math.abs(high));
  if (strength < small) return 'unclear';
  if (strength < medium) return 'small';
  return strength < large ? 'medium' : 'large';
}
