import { type Column, createColumn } from './column.ts';
import { createRandomIndex } from './random.ts';

/** Enough for two digits of a p value of a few per cent after Holm's correction over thirty metrics. */
const REPLICATES = 4000;
/**
 * More cases than this are drawn in random groups of equal size: the spread of a sum over cases is the same, and
 * the time no longer grows with the cases.
 */
const MOST_UNITS = 500;
const FEWEST_DEFINED = 0.95;

/**
 * The value of every column in each of many samples of the cases, drawn with replacement. All columns see the same
 * samples, so that differences between arms are paired. NaN where a sample leaves nothing to divide by.
 */
export function bootstrap(columns: readonly Column[], seed: number, replicates = REPLICATES): Float64Array[] {
  const cases = columns[0]?.sum.length ?? 0;
  const random = createRandomIndex(seed);
  const units = columns.map(grouping(cases, random));
  const count = Math.min(cases, MOST_UNITS);
  const values = columns.map(() => new Float64Array(replicates));
  const drawn = new Uint16Array(count);
  for (let replicate = 0; replicate < replicates; replicate += 1) {
    for (let index = 0; index < count; index += 1) drawn[index] = random(count);
    for (let column = 0; column < units.length; column += 1) {
      const { sum, of } = units[column] as Column;
      let over = 0;
      let under = 0;
      for (let index = 0; index < count; index += 1) {
        const unit = drawn[index] as number;
        over += sum[unit] as number;
        under += of[unit] as number;
      }
      (values[column] as Float64Array)[replicate] = over / under;
    }
  }
  return values;
}

/** The samples of columns, each made once: all of them see the same draws. */
export type Sampler = (columns: readonly Column[]) => Float64Array[];

export function createSampler(seed: number): Sampler {
  const known = new WeakMap<Column, Float64Array>();
  return (columns) => {
    const wanted = [...new Set(columns)].filter((column) => !known.has(column));
    bootstrap(wanted, seed).forEach((samples, index) => {
      known.set(wanted[index] as Column, samples);
    });
    return columns.map((column) => known.get(column) as Float64Array);
  };
}

/** Gathers the cases of a column in groups, the same for every column. */
function grouping(cases: number, random: (bound: number) => number): (column: Column) => Column {
  if (cases <= MOST_UNITS) return (column) => column;
  const order = Uint32Array.from({ length: cases }, (_, index) => index);
  for (let last = cases - 1; last > 0; last -= 1) {
    const other = random(last + 1);
    [order[last], order[other]] = [order[other] as number, order[last] as number];
  }
  return ({ sum, of }) => {
    const grouped = createColumn(MOST_UNITS);
    order.forEach((index, position) => {
      const group = position % MOST_UNITS;
      grouped.sum[group] = (grouped.sum[group] as number) + (sum[index] as number);
      grouped.of[group] = (grouped.of[group] as number) + (of[index] as number);
    });
    return grouped;
  };
}

/** The middle 95 % of the samples; null if too many of them were undefined. */
export function percentileInterval(samples: Float64Array): [number, number] | null {
  const defined = samples.filter((sample) => Number.isFinite(sample)).sort();
  if (defined.length < samples.length * FEWEST_DEFINED || defined.length === 0) return null;
  const at = (share: number) => defined[Math.round(share * (defined.length - 1))] as number;
  return [at(0.025), at(0.975)];
}

/** How seldom a sample of differences lies on the other side of 0, on both sides; 1 if too many were undefined. */
export function twoSidedP(differences: Float64Array): number {
  let below = 0;
  let above = 0;
  let defined = 0;
  for (const difference of differences) {
    if (!Number.isFinite(difference)) continue;
    defined += 1;
    if (difference <= 0) below += 1;
    if (difference >= 0) above += 1;
  }
  if (defined < differences.length * FEWEST_DEFINED) return 1;
  return Math.min(1, (2 * (Math.min(below, above) + 1)) / (defined + 1));
}
