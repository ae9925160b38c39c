import type { MetricComparison } from '../report/report-data.ts';
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

/** Holm's step-down correction: p values that may be judged one by one although there are several. In the order given. */
export function holm(ps: readonly number[]): number[] {
  const order = ps.map((_, index) => index).sort((a, b) => (ps[a] ?? 0) - (ps[b] ?? 0));
  const adjusted = new Array<number>(ps.length).fill(1);
  let largest = 0;
  order.forEach((index, rank) => {
    largest = Math.max(largest, Math.min(1, (ps.length - rank) * (ps[index] ?? 1)));
    adjusted[index] = largest;
  });
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
  const value = discordant === 0 ? null : onlyArm / discordant - 0.5;
  return { name: 'g', value, size: sizeOf(value, [0.05, 0.15, 0.25]) };
}

/**
 * Cohen's d of the paired differences: their mean by their standard deviation. A case's share in a ratio is taken
 * as what it moves the ratio by, which for a mean is its own value. Null if the differences do not vary.
 */
export function effectOfDifferences(arm: Column, baseline: Column): Effect {
  const used = Array.from(arm.of.keys()).filter((index) => hasPart(arm, index) || hasPart(baseline, index));
  const ofArm = influences(arm, used);
  const ofBaseline = influences(baseline, used);
  const squares = used.reduce((sum, _, at) => sum + ((ofArm[at] ?? 0) - (ofBaseline[at] ?? 0)) ** 2, 0);
  const spread = Math.sqrt(squares / Math.max(1, used.length - 1));
  // Rounding leaves a hair of spread where there is none.
  const value = spread < 1e-9 ? null : (ratioOf(arm) - ratioOf(baseline)) / spread;
  return { name: 'd', value, size: sizeOf(value, [0.2, 0.5, 0.8]) };
}

function hasPart({ sum, of }: Column, index: number): boolean {
  return (sum[index] ?? 0) !== 0 || (of[index] ?? 0) !== 0;
}

function influences(column: Column, used: readonly number[]): number[] {
  const ratio = ratioOf(column);
  const mean = total(column.of) / used.length;
  return used.map((index) => ((column.sum[index] ?? 0) - ratio * (column.of[index] ?? 0)) / mean);
}

/** By Cohen's conventional bounds. */
function sizeOf(value: number | null, [small, medium, large]: [number, number, number]): Effect['size'] {
  const strength = Math.abs(value ?? 0);
  if (strength < small) return 'none';
  if (strength < medium) return 'small';
  return strength < large ? 'medium' : 'large';
}
