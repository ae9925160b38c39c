import type { MetricComparison } from '../report/report-data.ts';
import { type Column, ratioOf, total } from './column.ts';

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
