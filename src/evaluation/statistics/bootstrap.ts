import type { Column } from './column.ts';
import { createRandomIndex } from './random.ts';
import { gathered, type Units, unitsOf } from './units.ts';

/** Enough for two digits of the bounds of an interval. */
const REPLICATES = 4000;
const FEWEST_DEFINED = 0.95;

/**
 * The value of every column in each of many samples of the units, drawn with replacement. All columns see the same
 * samples, so that differences between arms are paired. NaN where a sample leaves nothing to divide by.
 */
export function bootstrap(
  columns: readonly Column[],
  seed: number,
  replicates = REPLICATES,
  { unitOf, count }: Units = unitsOf(columns[0]?.sum.length ?? 0),
): Float64Array[] {
  const random = createRandomIndex(seed);
  const units = columns.map((column) => gathered(column, { unitOf, count }));
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

export function createSampler(seed: number, units?: Units): Sampler {
  const known = new WeakMap<Column, Float64Array>();
  return (columns) => {
    const wanted = [...new Set(columns)].filter((column) => !known.has(column));
    bootstrap(wanted, seed, REPLICATES, units).forEach((samples, index) => {
      known.set(wanted[index] as Column, samples);
    });
    return columns.map((column) => known.get(column) as Float64Array);
  };
}

/** The middle of the samples, 95 % unless told otherwise; null if too many of them were undefined. */
export function percentileInterval(samples: Float64Array, level = 0.95): [number, number] | null {
  const defined = samples.filter((sample) => Number.isFinite(sample)).sort();
  if (defined.length < samples.length * FEWEST_DEFINED || defined.length === 0) return null;
  const at = (share: number) => defined[Math.round(share * (defined.length - 1))] as number;
  return [at((1 - level) / 2), at((1 + level) / 2)];
}
